"""How readable the code is, in numbers: ``python -m benchmarks.house [folder of a package]``."""

import ast
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path


def modules(folder: Path) -> Iterator[tuple[Path, str, ast.Module]]:
    """Every module of a package."""
    for path in sorted(folder.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        yield path, text, ast.parse(text)


def docstring_lines(tree: ast.Module) -> int:
    """Lines of all docstrings of a module."""
    total = 0
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            if node.body:
                first = node.body[0]
            else:
                first = None
            if not isinstance(first, ast.Expr) or not isinstance(first.value, ast.Constant):
                continue
            if isinstance(first.value.value, str):
                total += first.end_lineno - first.lineno + 1
    return total


def is_packed(node: ast.AST) -> bool:
    """``a, b = x, y``, but not a swap ``a, b = b, a``."""
    if not isinstance(node, ast.Assign) or not isinstance(node.value, ast.Tuple):
        return False
    if not isinstance(node.targets[0], ast.Tuple):
        return False
    names = sorted(ast.unparse(target) for target in node.targets[0].elts)
    return names != sorted(ast.unparse(target) for target in node.value.elts)


def defined(tree: ast.Module) -> Iterator[str]:
    """Names that a module defines at its top."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef | ast.FunctionDef):
            yield node.name
        elif isinstance(node, ast.Assign):
            yield from (target.id for target in node.targets if isinstance(target, ast.Name))
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            yield node.target.id


def backward_imports(tree: ast.Module) -> list[str]:
    """``from lifelong import …`` inside functions."""
    found = []
    for function in ast.walk(tree):
        if isinstance(function, ast.FunctionDef):
            found.extend(
                function.name
                for node in ast.walk(function)
                if isinstance(node, ast.ImportFrom) and node.module == "lifelong"
            )
    return found


def measure(folder: Path) -> dict[str, float]:
    """All numbers of one package."""
    n_files = n_lines = n_code = n_doc = packed = ternaries = backward = 0
    homes: dict[str, set[Path]] = defaultdict(set)
    for path, text, tree in modules(folder):
        n_files += 1
        lines = text.splitlines()
        n_lines += len(lines)
        n_code += sum(bool(line.strip()) for line in lines)
        n_doc += docstring_lines(tree)
        packed += sum(map(is_packed, ast.walk(tree)))
        ternaries += sum(isinstance(node, ast.IfExp) for node in ast.walk(tree))
        backward += len(backward_imports(tree))
        for name in defined(tree):
            if not name.startswith("__"):
                homes[name].add(path)
    return {
        "files": n_files,
        "lines": n_lines,
        "packed assignments per kLOC": 1000 * packed / n_lines,
        "ternaries per kLOC": 1000 * ternaries / n_lines,
        "docstring lines, % of lines that are not empty": 100 * n_doc / n_code,
        "names defined in more than one module": sum(
            len(found_in) > 1 for found_in in homes.values()
        ),
        "imports of lifelong inside functions": backward,
    }


if __name__ == "__main__":
    for folder in sys.argv[1:] or ["src/lifelong"]:
        print(folder)
        for what, number in measure(Path(folder)).items():
            print(f"  {what:<50}{number:10.1f}")
