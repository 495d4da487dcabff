"""What pyproject.toml asks for, what constraints.txt pins, and what the code imports agree."""

import ast
import sys
import tomllib
from importlib.metadata import packages_distributions
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
EXTRAS = PROJECT["optional-dependencies"]
# Imported under another name than the package's, and not installed beside the others (a venv of
# its own, or a package of one extra that tests do not need).
ELSEWHERE = {"flwr": "flwr", "ray": "ray", "dask": "distributed", "distributed": "distributed"}


def requirements(*extras):
    """All that is asked for by the core, or by some extras; our own extras aside."""
    lines = [line for extra in extras for line in EXTRAS[extra]] or PROJECT["dependencies"]
    found = [Requirement(line) for line in lines]
    return [one for one in found if one.name != "lifelong"]


def pins(name):
    lines = (ROOT / name).read_text(encoding="utf-8").splitlines()
    pairs = [line.split("==") for line in lines if "==" in line and not line.startswith("#")]
    return {canonicalize_name(package): Version(version) for package, version in pairs}


EVERYTHING = [*requirements(), *(one for extra in EXTRAS for one in requirements(extra))]


@pytest.mark.parametrize("requirement", EVERYTHING, ids=str)
def test_every_requirement_has_a_lower_bound_and_the_pinned_version_fits(requirement):
    assert any(one.operator == ">=" for one in requirement.specifier)
    pinned = pins("constraints.txt")
    if requirement.name == "flwr":
        pinned = pins("constraints-federated.txt")
    name = canonicalize_name(requirement.name)
    assert name in pinned, "an install with -c would take any version of it"
    assert pinned[name] in requirement.specifier


def test_the_versions_for_flower_fit_the_core_as_well():
    pinned = pins("constraints-federated.txt")
    for requirement in requirements():
        assert pinned[canonicalize_name(requirement.name)] in requirement.specifier


def imported(path):
    """Top-level packages that a file imports, wherever in the file."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.partition(".")[0]


def test_whatever_the_library_imports_is_declared():
    homes = packages_distributions()
    declared = {canonicalize_name(one.name) for one in EVERYTHING}
    undeclared = {}
    for path in (ROOT / "src").rglob("*.py"):
        for module in imported(path):
            if module in sys.stdlib_module_names or module == "lifelong":
                continue
            names = {canonicalize_name(name) for name in homes.get(module, [])}
            names |= {ELSEWHERE[module]} if module in ELSEWHERE else set()
            if not names & declared:
                undeclared[module] = path.name
    assert undeclared == {}
