"""Write down which experiments have committed results: ``python -m benchmarks.measured``.

A result that is as it was keeps its day; a new or changed one is of today, or of ``--date``.
"""

import argparse
import csv
import json
from dataclasses import asdict
from datetime import UTC, datetime
from hashlib import blake2b
from pathlib import Path

from lifelong.experiments.catalogue.measured import Measured, measured_experiments

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "docs" / "results"
WRITTEN = ROOT / "src" / "lifelong" / "experiments" / "catalogue" / "measured.json"


def committed(date: str) -> dict[str, Measured]:
    """What ``docs/results`` holds; ``date`` is for what was not there before."""
    before = measured_experiments()
    found = {}
    for table in sorted(RESULTS.glob("*/table.csv")):
        if not (table.parent / "spec.json").is_file():
            continue
        name = table.parent.name
        digest = blake2b(table.read_bytes(), digest_size=6).hexdigest()
        known = before.get(name)
        if known is not None and known.digest == digest:
            found[name] = known
        else:
            found[name] = Measured(fewest_repetitions(table), date, digest)
    return found


def fewest_repetitions(table: Path) -> int:
    """Complete repetitions of the learner that has fewest."""
    with table.open(newline="", encoding="utf-8") as file:
        return min(int(line["repetitions"]) for line in csv.DictReader(file))


def main() -> None:
    """Write the file anew."""
    today = datetime.now(UTC).date().isoformat()
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--date", default=today, help="of new results; default: today")
    found = committed(parser.parse_args().date)
    content = {name: asdict(measured) for name, measured in found.items()}
    WRITTEN.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
    print(f"{len(found)} experiments have results.")


if __name__ == "__main__":
    main()
