# ruff: noqa: T201 - it prints figures
"""The long tests behind ``make soak``; the figures in docs/reliability.md come from here.

``python tests/persistence/soak.py PART`` runs one of kills, interrupts, faults, two, fuzz,
coverage, onnx, readers, cycles, tasks, classes, rows, growth, sdist; without a part, all of them.
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
from contextlib import suppress
from copy import deepcopy
from multiprocessing import get_context
from pathlib import Path

import numpy as np
from faults import failing
from forked import interrupt_often
from fuzzing import fresh_folder, outcome, put
from hypothesis import HealthCheck, settings
from hypothesis.stateful import run_state_machine_as_test
from installing import install_both
from killing import kill_often
from mutations import mutate, read
from onnx_mutations import mutate as mutate_onnx
from onnx_mutations import real_file, refusals
from reading import watch
from small import OURS, forest, network, rows, same_answers, taught
from two_learners import TwoLearners

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
    "shared networks": 0.01,
}
SLACK = 4_000_000  # bytes beside twice the file: Python's own objects, and torch's layers


def kills(base: Path, scale: float) -> None:
    """Kill -9 during save and during stored partial_fit."""
    figures = kill_often(base, kills=max(5, round(200 * scale)), seed=1)
    print(figures)
    assert figures["directories"] >= figures["kills"] / 40, "killed in the same lesson every time"
    assert figures["leftovers"], "never killed while files were written"


def interrupts(base: Path, scale: float) -> None:
    """Ctrl-C at random moments of stored partial_fit and of partial_fit and save."""
    for kind in ("store", "save"):
        before = open_files()
        times = max(5, round(100 * scale))
        figures = interrupt_often(base / kind, times, seed=1, kind=kind)
        print(kind, figures)
        assert figures["during"] >= times / 10, "interrupted after the work was done"
        assert figures["learnt"], "no lesson ever ended"
        left = open_files() - before
        assert not any("writing" in name for name in left), left


def open_files() -> set[str]:
    """What this process has open, by name."""
    found = set()
    for handle in Path("/proc/self/fd").iterdir():
        with suppress(FileNotFoundError):
            found.add(str(handle.readlink()))
    return found


def two(base: Path, scale: float) -> None:
    """Two learners on one store: learn, declare, forget, rename, refuse, crash, reopen."""
    more = settings(
        max_examples=max(5, round(150 * scale)),
        stateful_step_count=40,
        deadline=None,
        suppress_health_check=list(HealthCheck),
        database=None,
    )
    for parameters in ({}, {"budget": 2}, {"replay": 0.5}, {"channel": "ridge"}):
        machine = type("Machine", (TwoLearners,), {"parameters": parameters})
        run_state_machine_as_test(machine, settings=more)
        print(f"{parameters or 'growing'}: {more.max_examples} histories of up to 40 steps")


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
    """Coverage-guided fuzzing with atheris (the extra ``soak``).

    In several processes that share what they have found: atheris itself keeps some kilobytes of
    every input, with the same inputs and without it the process does not grow.
    """
    script = Path(__file__).with_name("fuzz_atheris.py")
    base.mkdir()
    for number in range(4):
        runs = [f"-runs={round(25_000 * scale)}", f"-seed={number + 1}"]
        limits = ["-max_len=20000", "-rss_limit_mb=1000"]
        done = subprocess.run(
            [sys.executable, str(script), str(base), *runs, *limits],
            capture_output=True,
            text=True,
            check=False,
        )
        said = done.stderr.splitlines()
        print("\n".join(line for line in said if "DONE" in line or "Done" in line), flush=True)
        assert done.returncode == 0, done.stderr[-3000:]


def onnx(base: Path, scale: float) -> None:
    """Mutated ONNX files at every door that takes an encoder: refused, and nothing is opened."""
    base.mkdir()
    real = real_file(base)
    refusals(real, base)
    figures: Counter[str] = Counter()
    for number in range(round(30_000 * scale)):
        variant = mutate_onnx(real, random.Random(f"onnx-{number}"))
        figures.update(refusals(variant, base, measured=number % 25 == 0))
    print(f"{sum(figures.values())} files: {dict(figures)}")


def readers(base: Path, scale: float) -> None:
    """Eight readers while a writer learns for a minute; then spawned ones, and forked ones."""
    print(watch(base / "server", seconds=max(5.0, 60 * scale), n_readers=8))
    for how in ("spawn", "fork"):
        seconds = max(15.0, 30 * scale)
        print(how, watch(base / how, seconds, n_readers=3, context=get_context(how)))


def cycles(base: Path, scale: float) -> None:
    """2000 times partial_fit and forget, on one store; memory, handles and files stay flat."""
    n_cycles = max(100, round(2000 * scale))
    learner = forest(store=Store(base, cache_bytes=1_000_000))
    learner.partial_fit(*rows(0), task="stays")
    expected = learner.predict_proba(rows(3)[0], task="stays")
    marks = []
    for number in range(n_cycles):
        learner.partial_fit(*rows(number), task="comes and goes")
        learner.forget("comes and goes", encoder=True)
        if (number + 1) % (n_cycles // 10) == 0:
            handles = len(list(Path("/proc/self/fd").iterdir()))
            files = len(list(base.iterdir()))
            marks.append((memory(), handles, files, _manifest(base)))
            print(
                f"{number + 1} cycles: {memory():.1f} MB, {handles} file handles, {files} files,"
                f" manifest {_manifest(base)} bytes",
                flush=True,
            )
    assert np.array_equal(learner.predict_proba(rows(3)[0], task="stays"), expected)
    assert same_answers(load(base), forest().partial_fit(*rows(0), task="stays"))
    assert marks[-1][0] <= marks[1][0] + 10, "memory grows"
    assert {mark[1:] for mark in marks[1:]} == {marks[-1][1:]}, "handles or files grow"


def classes(base: Path, scale: float) -> None:
    """A task of 10 000 classes: learnt, saved, loaded and asked."""
    n_classes = max(200, round(10_000 * scale))
    X = np.random.default_rng(0).normal(size=(n_classes, 8)).astype(np.float32)
    y = [f"class-{number}" for number in range(n_classes)]
    learner = forest(task_inference=False)
    begun = time.monotonic()
    learner.partial_fit(X, y, task="many").partial_fit(X, y, task="many")
    learnt = time.monotonic() - begun
    save(learner, base)
    again = load(base)
    found = again.predict_proba(X[:50], task="many")
    assert found.shape == (50, n_classes)
    assert np.array_equal(found, learner.predict_proba(X[:50], task="many"))
    size = sum(path.stat().st_size for path in base.iterdir())
    print(
        f"{n_classes} classes: learnt in {learnt:.0f} s, {size / 1e6:.1f} MB on the disk,"
        f" saved and loaded in {time.monotonic() - begun - learnt:.1f} s, {memory():.0f} MB"
    )


def rows_(base: Path, scale: float) -> None:
    """10⁶ rows of 20 numbers: learnt with a store, loaded, asked, and forgotten."""
    n = max(20_000, round(1_000_000 * scale))
    chance = np.random.default_rng(0)
    X = chance.normal(size=(n, 20)).astype(np.float32)
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    begun = time.monotonic()
    learner = forest(store=base).partial_fit(X, y, task="large")
    learnt = time.monotonic() - begun
    begun = time.monotonic()
    again = forest(store=base)
    assert np.array_equal(again.predict(X[:1000]), learner.predict(X[:1000]))
    asked = time.monotonic() - begun
    size = sum(path.stat().st_size for path in base.iterdir())
    assert len(load(base).memory_["large"].y) == n
    print(
        f"{n} rows: learnt and stored in {learnt:.0f} s ({size / 1e6:.0f} MB), first answer after a"
        f" restart in {asked:.1f} s, {memory():.0f} MB"
    )
    again.forget("large", encoder=True)
    left = sum(path.stat().st_size for path in base.glob("*.safetensors"))
    assert left < 100_000


rows_.__name__ = "rows"


def tasks(base: Path, scale: float) -> None:
    """3000 tasks on a budget, each saved: file handles stay flat, memory grows by the records of
    tasks, at most 20 kB for each.
    """
    n_tasks, marks = max(50, round(3000 * scale)), []
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
    more_tasks = marks[-1][0] - marks[1][0]
    assert marks[-1][1] <= marks[1][1] + 0.02 * more_tasks, "memory grows by more than records"


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


def sdist(base: Path, scale: float) -> None:
    """The sdist in empty venvs: with pinned versions, and with the oldest that are allowed."""
    print("\n".join(install_both(base)))


def _manifest(folder: Path) -> int:
    return (folder / "manifest.json").stat().st_size


def memory() -> float:
    """Resident megabytes of this process."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 2**20


PARTS = {
    part.__name__: part
    for part in (
        kills,
        interrupts,
        faults,
        two,
        fuzz,
        coverage,
        onnx,
        readers,
        cycles,
        tasks,
        classes,
        rows_,
        growth,
        sdist,
    )
}


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
