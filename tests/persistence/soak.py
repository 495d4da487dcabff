# ruff: noqa: T201 - it prints figures
"""The long tests behind ``make soak``; the figures in docs/reliability.md come from here.

``python tests/persistence/soak.py PART`` runs one of kills, faults, fuzz, coverage, readers, tasks,
growth; without a part, all of them.
"""

import argparse
import errno
import random
import resource
import shutil
import subprocess
import sys
import tempfile
import time
import traceback
from collections import Counter
from collections.abc import Callable
from copy import deepcopy
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from faults import failing
from fuzzing import fresh_folder, outcome, put
from killing import kill_often
from mutations import mutate, read
from reading import watch
from small import OURS, forest, network, rows, same_answers, taught

from lifelong import Store, load, save
from lifelong.exceptions import PersistenceError
from lifelong.references import REFERENCES

FUZZED = {
    "forest on a budget": 0.5,
    "forest": 0.3,
    "ridge forest": 0.1,
    "network": 0.03,
    "neighbours network": 0.04,
    "ridge network": 0.03,
}
SLACK = 4_000_000  # bytes beside twice the file: Python's own objects, and torch's layers


def kills(base: Path, scale: float) -> None:
    """Kill -9 during save and during stored partial_fit."""
    print(kill_often(base, kills=max(5, round(200 * scale)), seed=1))


def faults(base: Path, scale: float) -> None:
    """The disk fails once, at every position of a save, for several learners and two reasons."""
    makers: dict[str, Callable] = {
        "forest": forest,
        "forest on a budget": lambda: forest(budget=2),
        "ridge forest": lambda: forest(channel="ridge"),
        "network": network,
        "tag": lambda: REFERENCES["tag"](0, network=(6,)),
    }
    for name, make in makers.items():
        old, new = taught(make(), 2), taught(make(), 3)
        for code in (errno.ENOSPC, errno.EIO):
            print(
                f"{name}, {errno.errorcode[code]}:",
                _fail_everywhere(base / f"{name}-{code}", old, new, code),
            )


def _fail_everywhere(base: Path, old, new, code: int) -> dict[str, int]:
    save(deepcopy(old), base / "old")
    figures: Counter[str] = Counter()
    for position in range(10_000):
        folder = base / str(position)
        shutil.copytree(base / "old", folder)
        learner, refused = deepcopy(new), False
        with failing(position, code) as disk:
            try:
                save(learner, folder)
            except PersistenceError:
                refused = True
        if not disk.failed:
            return dict(figures)
        found = load(folder)
        kept_old, is_new = same_answers(found, old), same_answers(found, new)
        assert kept_old or is_new, "neither the old nor the new learner"
        assert refused or is_new
        save(learner, folder)
        assert same_answers(load(folder), new)
        figures.update(
            [f"failed {disk.failed}", "old state" if kept_old else "new state", "positions"]
        )
        shutil.rmtree(folder)
    raise AssertionError("a save without end")


def fuzz(base: Path, scale: float) -> None:
    """Mutated directories: the outcome is a learner that works, or a PersistenceError."""
    shared = Path("/dev/shm")
    base = Path(tempfile.mkdtemp(dir=shared)) if shared.is_dir() else base
    total = round(102_000 * scale)
    memory_before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for name, share in FUZZED.items():
        figures, begun = Counter(), time.monotonic()
        make, shape = OURS[name]
        folder = fresh_folder(base / "learner")
        learner = taught(make(), 2, shape).partial_fit(*rows(0, n=9, shape=shape), task="task-0")
        save(learner, folder)
        (folder / "lock").unlink()
        intact = there = read(folder)
        size = sum(map(len, intact.values()))
        for number in range(round(total * share)):
            files = mutate(intact, random.Random(f"{name}-{number}"))
            put(folder, files, there)
            there = files
            measured = number % 25 == 0
            if number % 5000 == 4999:
                print(f"  {number + 1} of {round(total * share)}: {dict(figures)}", flush=True)
            allowed = 2 * max(size, sum(map(len, files.values()))) + SLACK if measured else None
            try:
                figures[outcome(folder, shape, memory=allowed)] += 1
            except Exception:
                figures["FAILED"] += 1
                print(f"{name}, input {number}:", traceback.format_exc(limit=-3))
        seconds = time.monotonic() - begun
        print(
            f"{name} ({size} bytes): {sum(figures.values())} inputs, {dict(figures)},"
            f" {seconds:.0f} s",
            flush=True,
        )
        assert not figures["FAILED"]
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory_before
    print(f"peak memory of the process grew by {grown / 1024:.0f} MB over all inputs")
    shutil.rmtree(base)


def coverage(base: Path, scale: float) -> None:
    """Coverage-guided fuzzing with atheris, where it is installed."""
    if find_spec("atheris") is None:
        print("atheris is not installed: pip install atheris")
        return
    script = Path(__file__).with_name("fuzz_atheris.py")
    runs = [f"-runs={round(100_000 * scale)}", "-max_len=20000", "-rss_limit_mb=1000"]
    done = subprocess.run(
        [sys.executable, str(script), *runs], capture_output=True, text=True, check=False
    )
    print("\n".join(line for line in done.stderr.splitlines() if "DONE" in line or "Done" in line))
    assert done.returncode == 0, done.stderr[-3000:]


def readers(base: Path, scale: float) -> None:
    """Eight readers while a writer learns for a minute."""
    print(watch(base, seconds=max(5.0, 60 * scale), n_readers=8))


def tasks(base: Path, scale: float) -> None:
    """2000 tasks on a budget, each saved; memory, file handles and time per task stay flat."""
    n_tasks, marks = max(50, round(2000 * scale)), []
    learner = forest(budget=4, store=Store(base, cache_bytes=2_000_000))
    begun = time.monotonic()
    for number in range(n_tasks):
        learner.partial_fit(*rows(number, n=40), task=number)
        if (number + 1) % (n_tasks // 10) == 0:
            seconds = (time.monotonic() - begun) / (n_tasks // 10)
            learner = forest(
                budget=4, store=Store(base, cache_bytes=2_000_000)
            )  # reloaded, as after a restart
            asked = [
                learner.predict_proba(rows(3)[0], task=task)
                for task in range(0, number, max(1, number // 20))
            ]
            assert all(np.isfinite(one).all() for one in asked)
            marks.append(
                (
                    number + 1,
                    memory(),
                    len(list(Path("/proc/self/fd").iterdir())),
                    seconds,
                    _manifest(base),
                )
            )
            print(
                f"{marks[-1][0]} tasks: {marks[-1][1]:.1f} MB, {marks[-1][2]} file handles, "
                f"{1000 * seconds:.0f} ms per task, manifest {marks[-1][4] / 1000:.0f} kB",
                flush=True,
            )
            begun = time.monotonic()
    begun = time.monotonic()
    whole = load(base)
    print(f"load() of all {len(whole.tasks_)} tasks: {time.monotonic() - begun:.1f} s")
    assert len(whole.tasks_) == n_tasks
    assert marks[-1][2] <= marks[0][2] + 2, "file handles grow"
    assert marks[-1][1] <= marks[1][1] + 30, "memory grows"


def growth(base: Path, scale: float) -> None:
    """What a save writes and how long it takes after T tasks, on a budget and without one."""
    for name, parameters in {"budget of 4": {"budget": 4}, "growing, replay": {}}.items():
        learner, folder = forest(**parameters), base / name
        last = max(20, round((400 if parameters else 100) * scale))
        for number in range(last):
            learner.partial_fit(*rows(number, n=40), task=number)
            before = set(folder.iterdir()) if folder.exists() else set()
            begun = time.monotonic()
            save(learner, folder)
            seconds = time.monotonic() - begun
            new = set(folder.iterdir()) - before
            if number + 1 in (10, last // 2, last):
                size = sum(one.stat().st_size for one in new)
                print(
                    f"{name}, task {number + 1}: {len(new)} new files, {size / 1000:.1f} kB,"
                    f" manifest {_manifest(folder) / 1000:.0f} kB, {1000 * seconds:.0f} ms",
                    flush=True,
                )


def _manifest(folder: Path) -> int:
    return (folder / "manifest.json").stat().st_size


def memory() -> float:
    """Resident megabytes of this process."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 2**20


PARTS = {part.__name__: part for part in (kills, faults, fuzz, coverage, readers, tasks, growth)}


def main() -> None:
    """Run the parts that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", default=list(PARTS), help=", ".join(PARTS))
    parser.add_argument(
        "--scale", type=float, default=1.0, help="a smaller number is a shorter test"
    )
    arguments = parser.parse_args()
    for name in arguments.parts:
        begun = time.monotonic()
        print(f"== {name}: {PARTS[name].__doc__}", flush=True)
        with tempfile.TemporaryDirectory() as base:
            PARTS[name](Path(base) / name, arguments.scale)
        print(f"== {name}: passed in {time.monotonic() - begun:.0f} s", flush=True)


if __name__ == "__main__":
    sys.exit(main())
