"""Whether learners answer as they did before: the answers of many small cases, bit for bit.

::

    python -m benchmarks.same_answers write OUT      # the answers of the lifelong that is installed
    python -m benchmarks.same_answers compare A B    # exit code 1 if any bit differs

As a plain file it runs with any interpreter, and so with any checkout of lifelong::

    /old/checkout/.venv/bin/python benchmarks/same_answers.py write before
    .venv/bin/python benchmarks/same_answers.py write after
    .venv/bin/python benchmarks/same_answers.py compare before after

Learners that the old checkout has saved have to answer alike when the new one loads them::

    /old/checkout/.venv/bin/python benchmarks/same_answers.py save saved
    /old/checkout/.venv/bin/python benchmarks/same_answers.py read saved before-read
    .venv/bin/python benchmarks/same_answers.py read saved after-read
    .venv/bin/python benchmarks/same_answers.py compare before-read after-read

The cases are in ``tests/answers``. Bits are the same on one machine and one set of versions only.
"""

import argparse
import os
import sys
import time
import traceback
from pathlib import Path
from typing import Any

_OFTEN = 5.0  # seconds between two lines of progress


def write(out: Path, only: str = "") -> int:
    """The answers of all cases with ``only`` in their names; returns how many broke down."""
    from answers.cases import CASES

    return _answer({name: case for name, case in CASES.items() if only in name}, out)


def save(folder: Path) -> int:
    """A learner of every kind, saved to a directory each."""
    from answers.cases import save_all

    print(f"{save_all(folder)} learners")
    return 0


def read(folder: Path, out: Path) -> int:
    """The answers of learners that ``save`` has saved; returns how many broke down."""
    from answers.cases import reading_cases

    return _answer(reading_cases(folder), out)


def _answer(cases: dict[str, Any], out: Path) -> int:
    """Write the answers of cases and say how far it is."""
    import lifelong
    from answers.files import cases_in, write_case

    out.mkdir(parents=True, exist_ok=True)
    if cases_in(out):
        sys.exit(f"{out} holds answers already. Choose another directory.")
    print(f"{len(cases)} cases, by {lifelong.__file__}", flush=True)
    started = time.perf_counter()
    last_line = started
    broken = 0
    for number, (name, case) in enumerate(cases.items(), start=1):
        try:
            answers = case.answers()
        except Exception:
            broken += 1
            traceback.print_exc()
            print(f"BROKEN: {name}", flush=True)
            answers = {}
        write_case(out, name, answers)
        now = time.perf_counter()
        if now - last_line > _OFTEN or number == len(cases):
            last_line = now
            print(f"{number:>5} of {len(cases)}  {now - started:4.0f} s  {name}", flush=True)
    used = time.process_time()
    print(f"{broken} cases broke down; {used:.0f} s of processor time.")
    return broken


def keep(file: Path) -> int:
    """The answers of some cases to fewer rows, in one file; see tests/answers."""
    from answers.cases import KEPT, N_KEPT_ROWS
    from answers.files import write_packed

    write_packed(file, {name: case.answers(N_KEPT_ROWS) for name, case in KEPT.items()})
    print(f"{len(KEPT)} cases, {file.stat().st_size / 1000:.0f} kB")
    return 0


def compare(before: Path, after: Path) -> int:
    """Print a line per case that differs, and a summary; returns how many differ."""
    from answers.files import cases_in, differences, read_case

    old_names = cases_in(before)
    new_names = cases_in(after)
    n_arrays = 0
    different = 0
    for name in sorted(old_names ^ new_names):
        different += 1
        print(f"{name}: only in {before if name in old_names else after}")
    for name in sorted(old_names & new_names):
        old = read_case(before, name)
        found = list(differences(old, read_case(after, name)))
        n_arrays += len(old)
        if found:
            different += 1
            print(f"{name}: {len(found)} of {len(old)} arrays differ; {found[0]}")
    verdict = "all bit for bit equal"
    if different:
        verdict = f"{different} cases differ"
    print(f"{len(old_names | new_names)} cases, {n_arrays} arrays, {verdict}")
    return different


def main() -> None:
    """See the module."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    commands = parser.add_subparsers(dest="command", required=True)
    writing = commands.add_parser("write", help="write the answers of all cases to a directory")
    writing.add_argument("out", type=Path)
    writing.add_argument("--only", default="", help="cases with this text in their names")
    saving = commands.add_parser("save", help="save a learner of every kind to a directory")
    saving.add_argument("folder", type=Path)
    reading = commands.add_parser("read", help="write the answers of such learners to a directory")
    reading.add_argument("folder", type=Path)
    reading.add_argument("out", type=Path)
    keeping = commands.add_parser("keep", help="write the answers that tests compare to a file")
    keeping.add_argument("file", type=Path)
    comparing = commands.add_parser("compare", help="compare two such directories bit for bit")
    comparing.add_argument("before", type=Path)
    comparing.add_argument("after", type=Path)
    given = vars(parser.parse_args())
    todo = {"write": write, "compare": compare, "save": save, "read": read, "keep": keep}
    failed = todo[given.pop("command")](**given)
    sys.exit(bool(failed))


if __name__ == "__main__":
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[variable] = "1"  # before numpy is there: several threads add in another order
    sys.path.append(str(Path(__file__).resolve().parents[1] / "tests"))
    main()
