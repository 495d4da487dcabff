"""Rules for all tests: decoded copies go into a scratch folder; tests on real files need
LIFELONG_DATA.
"""

import os
from pathlib import Path

import pytest


@pytest.fixture(scope="session", autouse=True)
def scratch_cache(tmp_path_factory):
    """One cache for the whole run, shared by xdist's workers, never the user's own."""
    base = tmp_path_factory.getbasetemp()
    shared = base.parent if "PYTEST_XDIST_WORKER" in os.environ else base
    before = os.environ.get("LIFELONG_CACHE")
    os.environ["LIFELONG_CACHE"] = str(shared / "lifelong-cache")
    yield
    if before is None:
        del os.environ["LIFELONG_CACHE"]
    else:
        os.environ["LIFELONG_CACHE"] = before


def pytest_runtest_setup(item):
    """Tests marked ``data`` or ``models`` read real files: skipped on a machine without them, but
    never in CI.
    """
    if (
        item.get_closest_marker("data")
        and not Path(os.environ.get("LIFELONG_DATA") or "missing").is_dir()
    ):
        _do_without("LIFELONG_DATA is not set or not a folder")
    for name in (name for marker in item.iter_markers("models") for name in marker.args):
        from lifelong.experiments.models import find_model

        try:
            find_model(name)
        except ValueError as error:
            _do_without(str(error))


def _do_without(what):
    if os.environ.get("CI", "").lower() in {"1", "true"}:
        pytest.fail(f"{what}, and tests on real files are never skipped in CI.")
    pytest.skip(f"needs real files: {what}")


collect_ignore = [
    "persistence/fuzz_atheris.py"
]  # needs a package that is not a dependency; `make soak` runs it
