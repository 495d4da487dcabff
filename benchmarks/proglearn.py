"""ProgLearn 0.0.7 in an environment of its own, beside ours and never a dependency of it."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from benchmarks.worker import Worker

VENV = Path(".venv/proglearn")
READY = VENV / "ready"
REQUIREMENTS = [
    "proglearn==0.0.7",
    "tensorflow==2.21.0",
    "keras==3.15.1",
    "scikit-learn==1.9.1",
    "numpy==2.4.6",
]
HOW = f"python3.11 -m venv {VENV} && {VENV}/bin/pip install {' '.join(REQUIREMENTS)}"


class MissingError(Exception):
    """There is no ProgLearn here."""


def make() -> None:
    """Install ProgLearn, which needs TensorFlow: a gigabyte, once.

    If it fails, its rows will say so.
    """
    if READY.exists():
        return
    print(f"installing {', '.join(REQUIREMENTS)} into {VENV} …", flush=True)
    python = VENV / "bin/python"
    steps = [
        [sys.executable, "-m", "venv", "--clear", VENV],
        [python, "-m", "pip", "install", "-q", *REQUIREMENTS],
        [python, "-c", "import proglearn.forest, proglearn.network"],
    ]
    if all(
        subprocess.run(step, check=False, stderr=subprocess.DEVNULL).returncode == 0
        for step in steps
    ):
        READY.touch()


@contextmanager
def both_workers() -> Iterator[tuple[Worker, Worker]]:
    """Our worker and ProgLearn's."""
    if not READY.exists():
        raise MissingError(f"ProgLearn is not installed here: `make bench` tries, by {HOW}")
    ours = Worker(Path(sys.executable), "benchmarks.silly_worker")
    theirs = Worker(VENV / "bin/python", "benchmarks.proglearn_worker")
    try:
        yield ours, theirs
    finally:
        ours.close()
        theirs.close()
