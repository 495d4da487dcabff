"""Strict JSON: no key twice, no NaN, no infinity, and ASCII only, so that any text survives."""

import json
import math
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

from lifelong.exceptions import MissingExtraError, PersistenceError

Json = Any

MAX_JSON = 2**29  # bytes of one text: a manifest, or the header of a file
MAX_DEPTH = 32  # brackets inside of brackets; our own texts have nine
# A list takes a hundred bytes of memory and an object two hundred, so a text must have more bytes
# for each than hostile ones would have; ours have three times as many.
_BYTES_PER_LIST = 8
_BYTES_PER_OBJECT = 16
_FREE = 1000  # lists and objects, however short the text
_PIECE = 2**16  # bytes that are looked at together


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
    """The value, or a :class:`PersistenceError` that says what is wrong with the text.

    Python takes up to thirty times the bytes of a text that is nothing but brackets, so length,
    brackets and depth are looked at before it is parsed: what passes takes 25 times at most.
    """
    check_modest(text)
    try:
        return json.loads(
            text.decode("ascii"),
            object_pairs_hook=_unique,
            parse_constant=_no_constant,
            parse_float=_finite,
        )
    except (ValueError, RecursionError) as error:
        raise Unfit(f"it is not JSON as this library writes it ({error})") from None


def check_modest(text: bytes) -> None:
    """Refuse a text that would take far more memory than it has bytes."""
    if len(text) > MAX_JSON:
        raise Unfit(f"it has {len(text)} bytes of JSON, and {MAX_JSON} is the limit")
    n_lists = 0
    n_objects = 0
    depth = 0
    in_text = 0  # 1: the piece begins inside of quotes
    # An escaped quote ends no text: escapes go first, from left to right.
    plain = text.replace(rb"\\", b"..").replace(rb"\"", b"..")
    for start in range(0, len(plain), _PIECE):
        piece = np.frombuffer(plain, np.uint8, min(_PIECE, len(plain) - start), start)
        quoted = (np.cumsum(piece == ord('"'), dtype=np.uint8) + in_text) & 1
        lists = (piece == ord("[")) & (quoted == 0)
        objects = (piece == ord("{")) & (quoted == 0)
        closes = ((piece == ord("]")) | (piece == ord("}"))) & (quoted == 0)
        depths = depth + np.cumsum((lists | objects).astype(np.int32) - closes)
        if depths.max() > MAX_DEPTH:
            raise Unfit(f"it has more than {MAX_DEPTH} brackets inside of each other")
        depth = int(depths[-1])
        in_text = int(quoted[-1])
        n_lists += int(lists.sum())
        n_objects += int(objects.sum())
    for number, each in ((n_lists, _BYTES_PER_LIST), (n_objects, _BYTES_PER_OBJECT)):
        if number > len(text) / each + _FREE:
            raise Unfit(f"it has {n_lists} lists and {n_objects} objects in {len(text)} bytes")


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
