"""Kinds of values, as :mod:`lifelong.schema` declares them: to JSON and arrays, and back, checked.

A *kind* knows the class it makes. Nothing in a file names a class, a module or another value: there
is no code to run and no cycle to follow. Arrays are found by where they stand in the structure
(``"table.0"``), so each is used once.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import is_dataclass
from functools import singledispatch
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lifelong import schema
from lifelong._provided import found_at
from lifelong.persistence.checking import Arrays, Name, Scope, expect, join, keys, name_pairs
from lifelong.persistence.text import Json, Unfit


@singledispatch
def pack(kind: schema.Kind, value: Any, arrays: Arrays, at: str, scope: Scope) -> Json:
    """JSON for a value; its arrays go to ``arrays``, named after their place ``at``."""
    raise TypeError(f"{kind} cannot be packed")


@singledispatch
def unpack(kind: schema.Kind, node: Json, arrays: Arrays, at: str, scope: Scope) -> Any:
    """The value again, or an error (:class:`~lifelong.persistence.text.Unfit`)."""
    raise TypeError(f"{kind} cannot be unpacked")


# Numbers and words: what is written is what is read, so packing is a check


@pack.register(schema.Whole)
def _(kind: schema.Whole, value: Any, arrays: Arrays, at: str, scope: Scope) -> Json:
    if isinstance(value, int | np.integer) and not isinstance(value, bool):
        value = int(value)  # an enumeration's, perhaps
    return unpack(kind, value, arrays, at, scope)


@unpack.register(schema.Whole)
def _(kind: schema.Whole, node: Json, arrays: Arrays, at: str, scope: Scope) -> int:
    most = kind.most
    if callable(most):
        most = most(scope)
    fits = type(node) is int and kind.least <= node <= most
    expect(fits, at, "is not a whole number in its range")
    return int(node)


@pack.register(schema.Number)
def _(kind: schema.Number, value: Any, arrays: Arrays, at: str, scope: Scope) -> Json:
    if isinstance(value, np.number):
        value = value.item()
    return unpack(kind, value, arrays, at, scope)


@unpack.register(schema.Number)
def _(kind: schema.Number, node: Json, arrays: Arrays, at: str, scope: Scope) -> float:
    fits = type(node) in (int, float) and abs(node) < 1e308 and kind.least <= node <= kind.most
    expect(fits, at, "is not a number in its range")
    return node  # type: ignore[no-any-return]


@pack.register(schema.Text)
def _(kind: schema.Text, value: Any, arrays: Arrays, at: str, scope: Scope) -> Json:
    if isinstance(value, str):  # of numpy, perhaps, or of an enumeration
        value = str.__str__(value)
    return unpack(kind, value, arrays, at, scope)


@unpack.register(schema.Text)
def _(kind: schema.Text, node: Json, arrays: Arrays, at: str, scope: Scope) -> str:
    if kind.choices is None:
        expect(type(node) is str, at, "is not text")
    else:
        known = type(node) is str and node in kind.choices
        expect(known, at, f"is not one of {', '.join(kind.choices)}")
    return str(node)


@pack.register(schema.Exactly)
def _(kind: schema.Exactly, value: Any, arrays: Arrays, at: str, scope: Scope) -> Json:
    return unpack(kind, value, arrays, at, scope)


@unpack.register(schema.Exactly)
def _(kind: schema.Exactly, node: Json, arrays: Arrays, at: str, scope: Scope) -> Any:
    wanted = kind.value
    if kind.name is not None:
        wanted = scope[kind.name]
    expect(type(node) is type(wanted) and node == wanted, at, f"is not {wanted!r}")
    return wanted


@pack.register(schema.TaskNames)
def _(kind: schema.TaskNames, value: Any, arrays: Arrays, at: str, scope: Scope) -> Json:
    return unpack(kind, value, arrays, at, scope)


@unpack.register(schema.TaskNames)
def _(kind: schema.TaskNames, node: Json, arrays: Arrays, at: str, scope: Scope) -> Name:
    expect(type(node) in (str, int), at, "is not a name: text or a whole number")
    return node  # type: ignore[no-any-return]


# Several kinds, several values


@pack.register(schema.AnyOf)
def _(kind: schema.AnyOf, value: Any, arrays: Arrays, at: str, scope: Scope) -> Json:
    return _first(kind, lambda option: pack(option, value, arrays, at, scope), at)


@unpack.register(schema.AnyOf)
def _(kind: schema.AnyOf, node: Json, arrays: Arrays, at: str, scope: Scope) -> Any:
    return _first(kind, lambda option: unpack(option, node, arrays, at, scope), at)


def _first(kind: schema.AnyOf, attempt: Callable[[schema.Kind], Any], at: str) -> Any:
    reasons = []
    for option in kind.kinds:
        try:
            return attempt(option)
        except Unfit as error:
            reasons.append(str(error))
    if len(set(reasons)) == 1:
        raise Unfit(reasons[0])
    raise Unfit(f"{at} is nothing that can be stored here")


@pack.register(schema.Several)
def _(kind: schema.Several, value: Any, arrays: Arrays, at: str, scope: Scope) -> Json:
    expect(isinstance(value, Sequence) and not isinstance(value, str), at, "is not a sequence")
    expect(len(value) >= kind.least, at, "is too short")
    return [pack(kind.kind, item, arrays, f"{at}.{n}", scope) for n, item in enumerate(value)]


@unpack.register(schema.Several)
def _(kind: schema.Several, node: Json, arrays: Arrays, at: str, scope: Scope) -> tuple[Any, ...]:
    fits = isinstance(node, list) and len(node) >= kind.least
    expect(fits, at, "is not a list, or too short")
    return tuple(unpack(kind.kind, item, arrays, f"{at}.{n}", scope) for n, item in enumerate(node))


@pack.register(schema.ByName)
def _(kind: schema.ByName, value: Any, arrays: Arrays, at: str, scope: Scope) -> Json:
    return [
        [name, pack(kind.kind, item, arrays, f"{at}.{n}", scope)]
        for n, (name, item) in enumerate(value.items())
    ]


@unpack.register(schema.ByName)
def _(kind: schema.ByName, node: Json, arrays: Arrays, at: str, scope: Scope) -> dict[Name, Any]:
    pairs = name_pairs(node, at)
    return {
        name: unpack(kind.kind, item, arrays, f"{at}.{n}", scope)
        for n, (name, item) in enumerate(pairs.items())
    }


# Arrays


@pack.register(schema.Array)
def _(kind: schema.Array, value: Any, arrays: Arrays, at: str, scope: Scope) -> Json:
    expect(isinstance(value, np.ndarray), at, "is not an array")
    _check_array(kind, value, at, scope)
    if value.flags.f_contiguous and not value.flags.c_contiguous:
        arrays[at] = value.T
        return "F"
    arrays[at] = np.asarray(value, order="C")
    return "C"


@unpack.register(schema.Array)
def _(kind: schema.Array, node: Json, arrays: Arrays, at: str, scope: Scope) -> NDArray[Any]:
    expect(node in ("C", "F"), at, "has no memory order")
    expect(at in arrays, f"array {at!r}", "is missing")
    array = arrays[at]
    if node == "F":
        array = array.T
    _check_array(kind, array, at, scope)
    del arrays[at]  # not before the check: another kind may be tried on it
    return array


def _check_array(kind: schema.Array, array: NDArray[Any], at: str, scope: Scope) -> None:
    known = array.dtype.name in kind.dtypes.split()
    expect(known, at, f"has numbers of type {array.dtype}, not {kind.dtypes}")
    lengths = _lengths(kind.shape, scope)
    fits = len(array.shape) == len(lengths)
    learnt: dict[str, int] = {}
    for wanted, got in zip(lengths, array.shape, strict=False):
        fits = fits and _fits(wanted, got, scope, learnt)
    expect(fits, at, f"has the shape {array.shape}, which does not fit")
    if array.dtype.kind == "f" and array.size:
        # The sum of finite numbers may overflow, so look at the extremes, which need no memory.
        finite = bool(np.isfinite(array.min()) and np.isfinite(array.max()))
        expect(finite or not kind.finite, at, "holds NaN or infinity")
    if kind.least is not None and array.size:
        expect(bool(array.min() >= kind.least), at, f"holds numbers below {kind.least:g}")
    scope.update(learnt)


def _lengths(shape: tuple[schema.Length, ...], scope: Scope) -> list[schema.Length]:
    """With ``"*in_shape"`` taken apart."""
    lengths: list[schema.Length] = []
    for length in shape:
        if isinstance(length, str) and length.startswith("*"):
            lengths.extend(scope[length[1:]])
        else:
            lengths.append(length)
    return lengths


def _fits(wanted: schema.Length, got: int, scope: Scope, learnt: dict[str, int]) -> bool:
    if wanted is None:
        return True
    if callable(wanted):
        return got == wanted(scope)
    if isinstance(wanted, int):
        return got == wanted
    name, _, most = wanted.partition("<=")
    if most and not 1 <= got <= scope[most]:
        return False
    name, _, least = name.partition(">=")
    if least and got < int(least):
        return False
    known = learnt.get(name, scope.get(name))
    if known is None:
        learnt[name] = got
        return True
    return bool(got == known)


@pack.register(schema.Places)
def _(kind: schema.Places, value: Any, arrays: Arrays, at: str, scope: Scope) -> Json:
    numbers = np.asarray(value, dtype=np.int64)
    return pack(schema.Array("int64", (kind.n,)), numbers, arrays, at, scope)


@unpack.register(schema.Places)
def _(kind: schema.Places, node: Json, arrays: Arrays, at: str, scope: Scope) -> NDArray[np.intp]:
    numbers = unpack(schema.Array("int64", (kind.n,)), node, arrays, at, scope)
    below: Any = kind.below
    if isinstance(below, str):
        below = scope[below]
    elif callable(below):
        below = below(scope)
    inside = not numbers.size or (numbers.min() >= 0 and numbers.max() < below)
    expect(bool(inside), at, f"holds numbers outside 0 … {below - 1}")
    found: NDArray[np.intp] = numbers.astype(np.intp, copy=False)
    return found


@pack.register(schema.Represented)
def _(kind: schema.Represented, value: Any, arrays: Arrays, at: str, scope: Scope) -> Json:
    return pack(_represented(kind, scope), value, arrays, at, scope)


@unpack.register(schema.Represented)
def _(kind: schema.Represented, node: Json, arrays: Arrays, at: str, scope: Scope) -> NDArray[Any]:
    Z: NDArray[Any] = unpack(_represented(kind, scope), node, arrays, at, scope)
    if scope["leaves"] and kind.known_leaves:
        inside = not Z.size or (Z.min() >= 0 and Z.max() < scope["leaves"])
        expect(bool(inside), at, f"holds leaves outside 0 … {scope['leaves'] - 1}")
    return Z


def _represented(kind: schema.Represented, scope: Scope) -> schema.Array:
    if scope["leaves"]:
        return schema.Array("int32", (kind.n, "columns"))
    return schema.Array(kind.dense, (kind.n, "columns"))


# Objects


@pack.register(schema.Record)
def _(kind: schema.Record, value: Any, arrays: Arrays, at: str, scope: Scope) -> Json:
    wanted = kind.make.__name__
    expect(type(value) is kind.make, at, f"is a {type(value).__name__}, not a {wanted}")
    inside = Scope(scope)
    packed = {}
    for name, field in schema.written_fields(value).items():
        packed[name] = pack(field, getattr(value, name), arrays, join(at, name), inside)
    if kind.named:
        return packed
    return list(packed.values())


@unpack.register(schema.Record)
def _(kind: schema.Record, node: Json, arrays: Arrays, at: str, scope: Scope) -> Any:
    fields = schema.declared_fields(kind.make)
    if not kind.named:
        fits = isinstance(node, list) and len(node) == len(fields)
        expect(fits, at, f"is not {' and '.join(fields)}")
        node = dict(zip(fields, node, strict=True))
    keys(node, schema.required_fields(kind.make), at, optional=set(fields))
    inside = Scope(scope)
    values = {}
    for name, field in fields.items():
        if name in node:
            values[name] = unpack(field, node[name], arrays, join(at, name), inside)
    made = kind.make(**values)
    if isinstance(made, schema.Checked):
        problem = made.problem(scope)
        expect(problem is None, at, problem or "")
    return made


@pack.register(schema.Tagged)
def _(kind: schema.Tagged, value: Any, arrays: Arrays, at: str, scope: Scope) -> Json:
    for word in kind.homes:
        if type(value).__name__ == word and type(value) is found_at(kind.homes[word]):
            packed: Any = pack(_kind_of(type(value)), value, arrays, at, scope)
            return {"kind": word, **packed}
    known = ", ".join(kind.homes)
    raise Unfit(f"{at}={value!r} is yours, and only these can be saved: {known}")


@unpack.register(schema.Tagged)
def _(kind: schema.Tagged, node: Json, arrays: Arrays, at: str, scope: Scope) -> Any:
    expect(isinstance(node, dict) and isinstance(node.get("kind"), str), at, "has no kind")
    word = node["kind"]
    expect(word in kind.homes, at, f"has the unknown kind {word[:40]!r}")
    rest = {name: value for name, value in node.items() if name != "kind"}
    return unpack(_kind_of(found_at(kind.homes[word])), rest, arrays, at, scope)


def _kind_of(make: type) -> schema.Kind:
    if is_dataclass(make) and schema.declared_fields(make):
        return schema.Record(make)
    return schema.Custom(make.__name__)


class CustomKind(NamedTuple):
    """Something that is saved in its own way."""

    pack: Callable[[Any, Arrays, str, Scope], Json]
    unpack: Callable[[Json, Arrays, str, Scope], Any]


CUSTOM: dict[str, str] = {
    "any forest": "lifelong.persistence.forests:ANY_FOREST",
    "forest of columns": "lifelong.persistence.forests:OF_COLUMNS",
    "class weight": "lifelong.persistence.parameters:CLASS_WEIGHT",
    "labels": "lifelong.persistence.labels:LABELS",
    "network": "lifelong.persistence.parameters:NETWORK_PARAMETER",
    "PretrainedEncoder": "lifelong.persistence.pretrained:PRETRAINED",
    "pipeline": "lifelong.persistence.pipelines:PIPELINE",
    "cholesky factor": "lifelong.persistence.pipelines:FACTOR",
    "tensors": "lifelong.persistence.tensors:TENSORS",
}
"""Where custom kinds are: some need torch, and are imported when they are needed."""


@pack.register(schema.Custom)
def _(kind: schema.Custom, value: Any, arrays: Arrays, at: str, scope: Scope) -> Json:
    found: Any = found_at(CUSTOM[kind.word])
    return found.pack(value, arrays, at, scope)


@unpack.register(schema.Custom)
def _(kind: schema.Custom, node: Json, arrays: Arrays, at: str, scope: Scope) -> Any:
    found: Any = found_at(CUSTOM[kind.word])
    return found.unpack(node, arrays, at, scope)


# Without arrays


def packed(kind: schema.Kind, value: Any, at: str) -> Json:
    """JSON for a value without arrays."""
    return pack(kind, value, Arrays(), at, Scope())


def unpacked(kind: schema.Kind, node: Json, at: str) -> Any:
    """A value without arrays."""
    return unpack(kind, node, Arrays(), at, Scope())


def lengths_of(in_shape: Sequence[int]) -> Mapping[str, Any]:
    """What is known of rows of that shape."""
    p = int(np.prod(in_shape, dtype=object))
    return {"in_shape": tuple(in_shape), "p": p, "columns": p, "leaves": 0}
