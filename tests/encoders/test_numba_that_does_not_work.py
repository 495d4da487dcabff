"""A numba that is absent, broken or switched off costs time: no answer changes, no lesson fails."""

import os
import subprocess
import sys

import pytest

from lifelong._extras import usable_numba

SCRIPT = """
import hashlib
import warnings

import numpy as np

from lifelong.encoders import growing_compiled, walking, walking_many

growing_compiled.WARM_UP = walking.WARM_UP = walking_many.WARM_UP = 0
from lifelong import LifelongClassifier, SillyForest

with warnings.catch_warnings(record=True) as found:
    warnings.simplefilter("always")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 4)).astype(np.float32)
    y = rng.integers(0, 3, size=150)
    tasks = np.repeat(["a", "b", "c"], 50)
    answers = []
    for shared in (True, None):
        model = LifelongClassifier(n_estimators=8, shared=shared, random_state=0)
        answers.append(model.fit(X, y, task=tasks).predict_proba(X, task=tasks))
    paper = SillyForest(random_state=0).partial_fit(X, y, task="a")
    for _ in range(3):
        answers += [paper.predict_proba(X[:1], task="a"), paper.predict_proba(X, task="a")]
    digest = hashlib.sha256(b"".join(each.tobytes() for each in answers)).hexdigest()
about_numba = [str(one.message) for one in found if "numba" in str(one.message)]
print(digest, growing_compiled.compiled_loops() is not None, about_numba, sep="\\n")
"""
BROKEN = {
    "a numpy that is too new": "raise ImportError('Numba needs NumPy 2.2 or less.\\nGot 9.9')",
    "a library that is not there": "raise OSError('libllvm.so: cannot open shared object file')",
    "an error of its own": "raise SystemError",
    "half of it": "",
}


def run(tmp_path, broken=None, **environment):
    """The digest of answers, whether loops were compiled, and what was said of numba."""
    places = [*sys.path]
    if broken is not None:
        (tmp_path / "numba").mkdir()
        (tmp_path / "numba" / "__init__.py").write_text(broken)
        places.insert(0, str(tmp_path))
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(places), **environment},
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    digest, compiled, said = done.stdout.splitlines()
    return digest, compiled == "True", said


@pytest.fixture(scope="module")
def expected(tmp_path_factory):
    """With loops that are compiled, where numba is installed; it needs no folder to write to."""
    nowhere = {"NUMBA_CACHE_DIR": "/proc/nowhere"}
    digest, compiled, said = run(tmp_path_factory.mktemp("whole"), **nowhere)
    assert compiled == (usable_numba() is not None)
    assert said == "[]"
    return digest


@pytest.mark.parametrize("broken", BROKEN.values(), ids=BROKEN)
def test_a_numba_that_cannot_be_imported_is_one_warning(broken, expected, tmp_path):
    digest, compiled, said = run(tmp_path, broken)
    assert digest == expected
    assert not compiled
    assert said.count("so forests are slower") == 1
    assert "\\n" not in said


def test_a_numba_that_shall_not_compile_is_left_alone(expected, tmp_path):
    digest, compiled, said = run(tmp_path, NUMBA_DISABLE_JIT="1")
    assert digest == expected
    assert not compiled
    assert said == "[]"
