"""Streams by name, for specs: simulations, datasets, and what experiments make of them."""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from lifelong._places import data_directory
from lifelong._validation import check_choice
from lifelong.experiments.generated import generated_tree
from lifelong.experiments.models import find_model
from lifelong.experiments.spec import Part
from lifelong.tasks import TaskStream
from lifelong.tasks.datasets import DATASETS, load
from lifelong.tasks.simulations import xor_stream
from lifelong.tasks.splits import halve, rotate

MakeStream = Callable[..., TaskStream]


def xor(data_dir: Path | None, seed: int, *, n_tasks: int = 2, **options: Any) -> TaskStream:  # noqa: ARG001
    """XOR and its relatives; ``n_tasks=1`` leaves the second task out."""
    return xor_stream(**options, random_state=seed)[:n_tasks]


def dataset(
    name: str, data_dir: Path | None, seed: int, *, n_tasks: int | None = None, **options: Any
) -> TaskStream:
    """A dataset's stream, or its first ``n_tasks``; each repetition draws rows of its own."""
    return load(name, data_dir, random_state=seed, **options)[:n_tasks]


def generated(data_dir: Path | None, seed: int, *, like: str, **options: Any) -> TaskStream:  # noqa: ARG001
    """The dataset ``like``, read from pictures generated in its official layout: no download."""
    return dataset(like, generated_tree(like), seed, **options)


def tree(data_dir: Path | None, seed: int, *, like: str, folder: str, **options: Any) -> TaskStream:
    """Other pictures in the layout of the dataset ``like``, in a folder of the data directory."""
    return dataset(like, data_directory(data_dir) / folder, seed, **options)


def halves(
    data_dir: Path | None, seed: int, *, of: str, angle: float, **options: Any
) -> TaskStream:
    """A dataset's first task cut in two; the pictures of the second half turned by ``angle``°."""
    first, second = halve(dataset(of, data_dir, seed, **options)[0], random_state=seed)
    return TaskStream([first, rotate(second, angle) if angle else second])


def for_model(
    data_dir: Path | None, seed: int, *, of: str, model: str, **options: Any
) -> TaskStream:
    """The stream ``of``, for learners that stand on a pretrained model: without the model there is
    nothing to run.
    """
    find_model(model)
    return _maker(of)(data_dir, seed, **options)


STREAMS: Mapping[str, MakeStream] = {
    "xor": xor,
    "generated": generated,
    "tree": tree,
    "halves": halves,
    "for-model": for_model,
}
"""Streams that are made of something else than one dataset; beside them, every dataset has one."""


def _maker(name: str) -> MakeStream:
    check_choice(name, "stream", [*STREAMS, *DATASETS])
    if name in STREAMS:
        return STREAMS[name]
    return partial(dataset, name)


def make_stream(part: Part, seed: int, data_dir: Path | None = None) -> TaskStream:
    """The stream of a part, for the repetition with that seed.

    >>> make_stream(Part("p", "xor", {"n": 50, "second": "xnor"}), seed=0).names
    ['xor', 'xnor']
    """
    return _maker(part.stream)(data_dir, seed, **part.options)
