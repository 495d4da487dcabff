"""One mutated input: write it, load it, use it, and see that nothing but the right
thing happened.
"""

import os
import shutil
import sys
import tracemalloc
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from mutations import Files
from small import rows

import lifelong
from lifelong import load
from lifelong.exceptions import PersistenceError

CODE = {
    "exec",
    "compile",
    "os.system",
    "os.exec",
    "os.posix_spawn",
    "subprocess.Popen",
    "pickle.find_class",
    "socket.connect",
}
_OURS = (
    sys.prefix,
    sys.base_prefix,
    str(Path(lifelong.__file__).parent),
    "/proc",
    "/sys",
)  # imports
_watched: list[str] = []
_seen: list[tuple[str, str]] = []


def _audit(event: str, arguments: tuple) -> None:
    if not _watched:
        return
    if event in CODE:
        _seen.append((event, str(arguments)[:200]))
    if event == "open" and isinstance(arguments[0], str | bytes | Path):
        path = os.path.realpath(os.fsdecode(arguments[0]))
        if not path.startswith((_watched[0], *_OURS)):
            _seen.append((event, path))


_installed = False


@contextmanager
def nothing_else_touched(folder: Path):
    """No code is run and no file outside the folder is opened inside the block (imports of Python
    aside).
    """
    global _installed
    if not _installed:
        sys.addaudithook(_audit)
        _installed = True
    _watched.append(os.path.realpath(folder))
    _seen.clear()
    try:
        yield
    finally:
        _watched.clear()
    assert not _seen, _seen


def put(folder: Path, files: Files, there: Files) -> None:
    """Make the folder hold exactly these files; ``there`` is what it holds now."""
    for name in set(there) - set(files):
        (folder / name).unlink()
    for name, content in files.items():
        if there.get(name) != content:
            (folder / name).write_bytes(content)


def outcome(folder: Path, shape: tuple[int, ...] = (4,), *, memory: int | None = None) -> str:
    """``"refused"`` or ``"loaded"``; anything else is an error.

    ``memory``: peak bytes that loading may take.
    """
    if memory is not None:
        tracemalloc.start()
    try:
        with nothing_else_touched(folder):
            learner = load(folder)
    except PersistenceError:
        return "refused"
    finally:
        if memory is not None:
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            assert peak <= memory, f"loading took {peak} bytes, {memory} allowed"
    X = rows(7, n=5, shape=tuple(learner.in_shape_))[0]
    for task in learner.tasks_:
        try:
            with np.errstate(all="ignore"):
                posteriors = learner.predict_proba(X, task=task)
        except (
            ValueError
        ) as error:  # weights so large that neurons are infinite: a network as bad as its file says
            if "infinity" in str(error) or "NaN" in str(error):
                continue
            raise
        assert posteriors.shape == (5, len(learner.classes_of(task)))
    return "loaded"


def fresh_folder(path: Path) -> Path:
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir(parents=True)
    return path
