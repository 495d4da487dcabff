"""Answers in files: a directory with a file per case, or one small file for some cases."""

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from answers.recording import Answers


def write_case(folder: Path, name: str, answers: Answers) -> None:
    """One case."""
    np.savez_compressed(folder / f"{name}.npz", **answers)


def read_case(folder: Path, name: str) -> Answers:
    """The case again."""
    with np.load(folder / f"{name}.npz") as file:
        return {key: file[key] for key in file.files}


def cases_in(folder: Path) -> set[str]:
    """The cases of a directory."""
    return {file.stem for file in folder.glob("*.npz")}


def write_packed(file: Path, cases: dict[str, Answers]) -> None:
    """Cases in one file: all their numbers in a row, and what they are in JSON."""
    numbers = []
    described: dict[str, dict[str, dict[str, Any]]] = {}
    for name, answers in cases.items():
        described[name] = {}
        for key, answer in answers.items():
            if answer.dtype.kind == "U":
                described[name][key] = {"texts": answer.tolist()}
            else:
                described[name][key] = {"dtype": answer.dtype.str, "shape": answer.shape}
                numbers.append(answer.ravel().astype(np.float64))
    text = json.dumps(described).encode()
    content = np.frombuffer(text, dtype=np.uint8)
    np.savez_compressed(file, numbers=np.concatenate(numbers), described=content)


def read_packed(file: Path) -> dict[str, Answers]:
    """The cases again."""
    with np.load(file) as content:
        numbers = content["numbers"]
        described = json.loads(content["described"].tobytes())
    cases: dict[str, Answers] = {}
    start = 0
    for name, answers in described.items():
        cases[name] = {}
        for key, one in answers.items():
            if "texts" in one:
                cases[name][key] = np.array(one["texts"], dtype=str)
            else:
                end = start + math.prod(one["shape"])
                values = numbers[start:end].reshape(one["shape"])
                cases[name][key] = values.astype(one["dtype"])
                start = end
    return cases


def differences(before: Answers, after: Answers) -> Iterator[str]:
    """What is not the same in every bit, an answer at a time."""
    for key in before:
        if key not in after:
            yield f"{key}: missing"
    for key, answer in after.items():
        if key not in before:
            yield f"{key}: new"
        elif not same_bits(before[key], answer):
            yield f"{key}: {difference(before[key], answer)}"


def same_bits(one: np.ndarray, other: np.ndarray) -> bool:
    """Whether two arrays have the same type, shape and bytes."""
    alike = one.dtype == other.dtype and one.shape == other.shape
    return alike and one.tobytes() == other.tobytes()


def difference(one: np.ndarray, other: np.ndarray) -> str:
    """In words, what is different."""
    if one.shape != other.shape:
        return f"shape {other.shape}, was {one.shape}"
    if one.dtype.kind in "fiub" and other.dtype.kind in "fiub":
        apart = np.abs(other.astype(np.float64) - one.astype(np.float64))
        largest = np.nanmax(apart, initial=0.0)
        return f"{other.dtype}, was {one.dtype}, differs by up to {largest:.3g}"
    return f"{other.ravel()[:5].tolist()}, was {one.ravel()[:5].tolist()}"
