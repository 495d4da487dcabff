"""docs/architecture.md says where things are: they are there, and every path goes one way."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SRC = ROOT / "src" / "lifelong"
PAGE = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
STEP = re.compile(r"`([\w/]+\.py):([\w.]+)`")


@pytest.mark.parametrize(("file", "name"), sorted(set(STEP.findall(PAGE))))
def test_every_step_names_a_function_that_is_there(file, name):
    tree = ast.parse((SRC / file).read_text(encoding="utf-8"))
    names = set()
    for node in tree.body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            names.add(node.name)
        if isinstance(node, ast.ClassDef):
            methods = [one for one in node.body if isinstance(one, ast.FunctionDef)]
            names |= {f"{node.name}.{method.name}" for method in methods}
    assert name in names


@pytest.mark.parametrize("path", ["partial_fit", "predict"])
def test_the_path_of_a_row_has_at_most_twelve_steps(path):
    section = PAGE.split(f"### Through `{path}`")[1].split("###")[0]
    assert 3 < len(re.findall(r"^\d+\. ", section, flags=re.MULTILINE)) <= 12


def test_no_function_imports_from_the_package_as_a_whole():
    """import-linter does not see ``from lifelong import X`` inside a function: it goes
    backwards.
    """
    found = []
    for path in SRC.rglob("*.py"):
        for function in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef):
                for node in ast.walk(function):
                    whole = isinstance(node, ast.ImportFrom) and node.module == "lifelong"
                    named = isinstance(node, ast.Import) and any(
                        alias.name.split(".")[0] == "lifelong" for alias in node.names
                    )
                    if whole or named:
                        found.append(f"{path.name}:{function.name}")
    assert found == []


def test_a_learner_of_ours_has_at_most_four_classes_of_ours_above_it():
    from lifelong import SillyForest

    ours = [one for one in SillyForest.__mro__ if one.__module__.startswith("lifelong")]
    assert len(ours) <= 4
