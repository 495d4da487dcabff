"""Strict JSON: no key twice, no NaN, no infinity, and ASCII only, so that any text survives."""

import json
import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from lifelong.exceptions import MissingExtraError, PersistenceError

Json = Any


class Unfit(PersistenceError):  # noqa: N818
    """Something does not fit; :func:`explained` adds where."""


@contextmanager
def explained(beginning: str) -> Iterator[None]:
    """Whatever goes wrong inside becomes one :class:`PersistenceError` that begins like this.

    A file can be wrong in more ways than anybody can list. Whatever a wrong one leads to must not
    look like an error of the caller's, so nothing else leaves this block; only the advice to
    install something does.
    """
    try:
        yield
    except Unfit as error:
        raise PersistenceError(f"{beginning}: {error}.") from None
    except (PersistenceError, MissingExtraError):
        raise
    except Exception as error:
        raise PersistenceError(f"{beginning}: {type(error).__name__}: {error}.") from error


def to_json(node: Json) -> bytes:
    """One line of JSON.

    >>> to_json({"name": "ü", "share": 0.5})
    b'{"name":"\\\\u00fc","share":0.5}'
    """
    try:
        return json.dumps(node, allow_nan=False, separators=(",", ":")).encode("ascii")
    except (TypeError, ValueError, RecursionError) as error:
        raise Unfit(f"it cannot be written as JSON ({error})") from None


def from_json(text: bytes) -> Json:
    """The value, or a :class:`PersistenceError` that says what is wrong with the text."""
    try:
        return json.loads(
            text.decode("ascii"),
            object_pairs_hook=_unique,
            parse_constant=_no_constant,
            parse_float=_finite,
        )
    except (ValueError, RecursionError) as error:
        raise Unfit(f"it is not JSON as this library writes it ({error})") from None


def _unique(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    node = dict(pairs)
    if len(node) < len(pairs):
        raise ValueError("a key comes twice")
    return node


def _no_constant(word: str) -> Json:
    raise ValueError(f"{word} is not a number")


def _finite(word: str) -> float:
    number = float(word)
    if not math.isfinite(number):
        raise ValueError(f"{word} is too large")
    return number
