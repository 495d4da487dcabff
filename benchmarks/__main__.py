"""Everything in one run: ``python -m benchmarks [--quick] [part …]``; a part is one file of this
folder.

Each line is a ratio of two sides that took turns. With "≤" it is ours ÷ theirs, with "≥" theirs ÷
ours. The table is docs/results/bench/table.md (and .json); a run of some parts replaces their rows
in it.
"""

import argparse
from dataclasses import replace
from datetime import UTC, datetime
from importlib import import_module

from benchmarks import proglearn, table
from benchmarks.measure import Row
from benchmarks.table import PARTS


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="small sizes, few repeats")
    parser.add_argument("parts", nargs="*", metavar="part", help=", ".join(PARTS))
    chosen = parser.parse_args()
    parts = chosen.parts or PARTS
    if unknown := set(parts) - set(PARTS):
        parser.error(f"there is no part {unknown.pop()!r}; choose from {', '.join(PARTS)}")
    if not chosen.quick and "against_proglearn" in parts:
        proglearn.make()
    for part in parts:
        rows: list[Row] = []
        for row in import_module(f"benchmarks.{part}").rows(chosen.quick):
            print(table.line(row), flush=True)
            rows.append(
                replace(row, part=part, measured=datetime.now(UTC).strftime("%Y-%m-%d %H:%M"))
            )
        if chosen.quick:
            table.write(rows, "quick", page=None)
        else:
            table.write(rows, "table")


if __name__ == "__main__":
    main()
