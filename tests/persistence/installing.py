"""The sdist, installed into empty venvs: with the pinned versions, and with the oldest ones that
pyproject.toml allows.
"""

import os
import subprocess
import sys
import tarfile
import tomllib
from pathlib import Path

from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
BUILD = "from setuptools import build_meta; print(build_meta.build_sdist({folder!r}))"
# What somebody does in the first minute, and nothing of the checkout in the way.
FIRST_MINUTE = """
import sys, tempfile
import numpy as np
import pathlib
import lifelong
from lifelong import LifelongClassifier, SillyForest, load, save
assert pathlib.Path(lifelong.__file__).is_relative_to(sys.prefix), lifelong.__file__
rng = np.random.default_rng(0)
X = rng.normal(size=(60, 4))
y = np.where(X[:, 0] > 0, "yes", "no")
learner = SillyForest(5, random_state=0).partial_fit(X, y, task="a").partial_fit(X, y, task="b")
with tempfile.TemporaryDirectory() as folder:
    save(learner, folder)
    again = load(folder)
assert np.array_equal(again.predict_proba(X, task="a"), learner.predict_proba(X, task="a"))
front = LifelongClassifier(random_state=0).fit(X, y, task=["a", "b"] * 30)
assert front.score(X, y, task=["a", "b"] * 30) > 0.8
assert "torch" not in sys.modules
print("works with numpy", np.__version__)
"""


def run(*command: str, cwd: Path) -> str:
    """What a command says; without our paths and settings in its environment."""
    environment = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("PYTHON", "LIFELONG"))
    }
    done = subprocess.run(
        command, cwd=cwd, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{' '.join(command[:4])}: {done.stdout}{done.stderr}"
    return done.stdout.strip()


def built_sdist(folder: Path) -> Path:
    """The sdist of this checkout, built from a copy."""
    copy = folder / "copy"
    names = ["pyproject.toml", "README.md", "LICENSE", "src"]
    copy.mkdir(parents=True)
    for name in names:
        run("cp", "-r", str(ROOT / name), str(copy / name), cwd=folder)
    said = run(sys.executable, "-c", BUILD.format(folder=str(folder)), cwd=copy)
    return folder / said.splitlines()[-1]


def oldest_versions() -> list[str]:
    """The core's requirements at their lower bounds."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    pinned = []
    for line in project["dependencies"]:
        requirement = Requirement(line)
        (least,) = (one.version for one in requirement.specifier if one.operator == ">=")
        pinned.append(f"{requirement.name}=={least}")
    return pinned


def installed_and_tried(sdist: Path, folder: Path, constraints: Path) -> str:
    """Install into an empty venv, use it for a minute, and say what it said."""
    run(sys.executable, "-m", "venv", str(folder), cwd=sdist.parent)
    python = str(folder / "bin" / "python")
    run(python, "-m", "pip", "install", "-q", "-c", str(constraints), str(sdist), cwd=folder)
    version = run(str(folder / "bin" / "lifelong"), "--version", cwd=folder)
    run(str(folder / "bin" / "lifelong"), "list", "learners", cwd=folder)
    return f"{version}: {run(python, '-c', FIRST_MINUTE, cwd=folder)}"


def install_both(base: Path) -> list[str]:
    """One line per venv."""
    base.mkdir(parents=True, exist_ok=True)
    sdist = built_sdist(base)
    with tarfile.open(sdist) as archive:
        names = [name.partition("/")[2] for name in archive.getnames()]
    for name in ("LICENSE", "src/lifelong/py.typed", "src/lifelong/report/templates"):
        assert any(one.startswith(name) for one in names), f"{name} is not in the sdist"
    oldest = base / "oldest.txt"
    oldest.write_text("\n".join(oldest_versions()))
    return [
        f"pinned versions, {installed_and_tried(sdist, base / 'new', ROOT / 'constraints.txt')}",
        f"oldest versions, {installed_and_tried(sdist, base / 'old', oldest)}",
    ]
