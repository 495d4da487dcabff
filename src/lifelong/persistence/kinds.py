"""What a file may hold: small descriptions that turn a value into JSON and arrays, and back with every check.

A *kind* knows the class it makes. Nothing in a file names a class, a module or another value: there is no code to run
and no cycle to follow. Arrays are found by where they stand in the structure (``"table.0"``), so each is used once.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from inspect import Parameter, signature
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from lifelong.persistence.text import Json, Unfit

Name = str | int  # of a task or an encoder


class Arrays(dict[str, NDArray[Any]]):
    """The arrays of one file, by place. Reading takes them out, so that whatever is left was not expected."""

    def take(self, at: str) -> NDArray[Any]:
        """The array at a place."""
        expect(at in self, f"array {at!r}", "is missing")
        return self.pop(at)

    def nothing_left(self) -> None:
        """Refuse arrays that nobody asked for."""
        if self:
            raise Unfit(f"array {next(iter(self))!r} does not belong here")


class Kind(Protocol):
    """One kind of value."""

    def pack(self, value: Any, arrays: Arrays, at: str) -> Json:
        """JSON for the value; its arrays go to ``arrays``, named after their place ``at``."""
        ...

    def unpack(self, node: Json, arrays: Arrays, at: str) -> Any:
        """The value again, or an error (:class:`~lifelong.persistence.text.Unfit`)."""
        ...


def expect(condition: bool, at: str, what: str) -> None:
    """Refuse what a right file cannot hold."""
    if not condition:
        raise Unfit(f"{at or 'the value'} {what}")


@dataclass(frozen=True)
class Whole:
    """A whole number; numpy's become Python's."""

    least: int = 0
    most: int = 2**63 - 1

    def pack(self, value: Any, arrays: Arrays, at: str) -> Json:
        number = int(value) if isinstance(value, np.integer) else value
        return self.unpack(number, arrays, at)

    def unpack(self, node: Json, arrays: Arrays, at: str) -> int:  # noqa: ARG002
        expect(type(node) is int and self.least <= node <= self.most, at, "is not a whole number in its range")
        return int(node)


@dataclass(frozen=True)
class Number:
    """A finite number, whole or not."""

    least: float = -math.inf
    most: float = math.inf

    def pack(self, value: Any, arrays: Arrays, at: str) -> Json:
        number = value.item() if isinstance(value, np.number) else value
        return self.unpack(number, arrays, at)

    def unpack(self, node: Json, arrays: Arrays, at: str) -> float:  # noqa: ARG002
        ok = type(node) in (int, float) and abs(node) < 1e308 and self.least <= node <= self.most
        expect(ok, at, "is not a number in its range")
        return node  # type: ignore[no-any-return]


@dataclass(frozen=True)
class Text:
    """Text; one of a few words, if they are given."""

    choices: tuple[str, ...] | None = None

    def pack(self, value: Any, arrays: Arrays, at: str) -> Json:
        return self.unpack(str(value) if isinstance(value, str) else value, arrays, at)

    def unpack(self, node: Json, arrays: Arrays, at: str) -> str:  # noqa: ARG002
        ok = type(node) is str and (self.choices is None or node in self.choices)
        expect(ok, at, f"is not one of {', '.join(self.choices)}" if self.choices else "is not text")
        return str(node)


@dataclass(frozen=True)
class Exactly:
    """One JSON value."""

    value: Any

    def pack(self, value: Any, arrays: Arrays, at: str) -> Json:
        return self.unpack(value, arrays, at)

    def unpack(self, node: Json, arrays: Arrays, at: str) -> Any:  # noqa: ARG002
        expect(type(node) is type(self.value) and node == self.value, at, f"is not {self.value!r}")
        return self.value


@dataclass(frozen=True)
class AnyOf:
    """The first of several kinds that fits."""

    kinds: tuple[Kind, ...]

    def pack(self, value: Any, arrays: Arrays, at: str) -> Json:
        return self._first(lambda kind: kind.pack(value, arrays, at), at)

    def unpack(self, node: Json, arrays: Arrays, at: str) -> Any:
        return self._first(lambda kind: kind.unpack(node, arrays, at), at)

    def _first(self, attempt: Callable[[Kind], Any], at: str) -> Any:
        reasons = []
        for kind in self.kinds:
            try:
                return attempt(kind)
            except Unfit as error:
                reasons.append(str(error))
        raise Unfit(reasons[-1] if len(set(reasons)) == 1 else f"{at} is nothing that can be stored here")


def maybe(kind: Kind) -> AnyOf:
    """None, or a value of that kind."""
    return AnyOf((Exactly(None), kind))


@dataclass(frozen=True)
class Several:
    """A tuple of values of one kind."""

    kind: Kind
    least: int = 0

    def pack(self, value: Any, arrays: Arrays, at: str) -> Json:
        expect(isinstance(value, Sequence) and not isinstance(value, str), at, "is not a sequence")
        expect(len(value) >= self.least, at, "is too short")
        return [self.kind.pack(one, arrays, f"{at}.{place}") for place, one in enumerate(value)]

    def unpack(self, node: Json, arrays: Arrays, at: str) -> tuple[Any, ...]:
        expect(isinstance(node, list) and len(node) >= self.least, at, "is not a list, or too short")
        return tuple(self.kind.unpack(one, arrays, f"{at}.{place}") for place, one in enumerate(node))


@dataclass(frozen=True)
class Array:
    """An array of one of some dtypes; ``shape`` has None where any length will do. Its memory order is kept."""

    dtypes: str  # dtype names, separated by spaces
    shape: tuple[int | None, ...]
    finite: bool = True

    def pack(self, value: Any, arrays: Arrays, at: str) -> Json:
        expect(isinstance(value, np.ndarray), at, "is not an array")
        self._check(value, at)
        fortran = value.flags.f_contiguous and not value.flags.c_contiguous
        arrays[at] = value.T if fortran else np.asarray(value, order="C")
        return "F" if fortran else "C"

    def unpack(self, node: Json, arrays: Arrays, at: str) -> NDArray[Any]:
        expect(node in ("C", "F"), at, "has no memory order")
        expect(at in arrays, f"array {at!r}", "is missing")
        array = arrays[at].T if node == "F" else arrays[at]
        self._check(array, at)
        del arrays[at]  # not before the check: another kind may be tried on it
        return array

    def _check(self, array: NDArray[Any], at: str) -> None:
        expect(array.dtype.name in self.dtypes.split(), at, f"has numbers of type {array.dtype}, not {self.dtypes}")
        wanted = tuple("any" if length is None else length for length in self.shape)
        fits = len(array.shape) == len(self.shape) and all(
            want in (None, got) for want, got in zip(self.shape, array.shape, strict=True)
        )
        expect(fits, at, f"has the shape {array.shape}, not {wanted}")
        if self.finite and array.dtype.kind == "f" and array.size:
            # The sum of finite numbers may overflow, so look at the extremes, which need no memory.
            expect(bool(np.isfinite(array.min()) and np.isfinite(array.max())), at, "holds NaN or infinity")


@dataclass(frozen=True)
class Codes:
    """Whole numbers 0 … most - 1 (n,), as positions in something of that length."""

    n: int | None
    most: int

    def pack(self, value: Any, arrays: Arrays, at: str) -> Json:
        return Array("int64", (self.n,)).pack(np.asarray(value, dtype=np.int64), arrays, at)

    def unpack(self, node: Json, arrays: Arrays, at: str) -> NDArray[np.intp]:
        numbers = Array("int64", (self.n,)).unpack(node, arrays, at)
        inside = not numbers.size or (numbers.min() >= 0 and numbers.max() < self.most)
        expect(bool(inside), at, f"holds numbers outside 0 … {self.most - 1}")
        return numbers.astype(np.intp, copy=False)


@dataclass(frozen=True)
class Record:
    """An object of one class, by its fields; ``check`` sees the fields together before the object is made."""

    make: Callable[..., Any]
    fields: Mapping[str, Kind]
    check: Callable[[dict[str, Any], str], None] = field(default=lambda fields, at: None)  # noqa: ARG005
    may_lack: bool = False  # whether a field that an older file lacks keeps its default

    def pack(self, value: Any, arrays: Arrays, at: str) -> Json:
        expect(type(value) is self.make, at, f"is a {type(value).__name__}, not a {getattr(self.make, '__name__', '')}")
        return {name: kind.pack(getattr(value, name), arrays, _join(at, name)) for name, kind in self.fields.items()}

    def unpack(self, node: Json, arrays: Arrays, at: str) -> Any:
        keys(node, self._needed() if self.may_lack else set(self.fields), at, optional=set(self.fields))
        fields = {name: kind for name, kind in self.fields.items() if name in node}
        values = {name: kind.unpack(node[name], arrays, _join(at, name)) for name, kind in fields.items()}
        self.check(values, at)
        return self.make(**values)

    def _needed(self) -> set[str]:
        """Fields without a default."""
        parameters = signature(self.make).parameters
        return {name for name in self.fields if parameters[name].default is Parameter.empty}


def _join(at: str, name: str) -> str:
    return f"{at}.{name}" if at else name


def keys(node: Json, wanted: set[str], at: str, optional: set[str] = frozenset()) -> None:  # type: ignore[assignment]
    """Refuse a JSON object that lacks a key or has one too many."""
    expect(isinstance(node, dict), at, "is not an object")
    expect(wanted <= set(node), at, f"lacks {', '.join(sorted(wanted - set(node)))}")
    unknown = sorted(set(node) - wanted - optional)
    expect(not unknown, at, f"has the unknown key {unknown[0][:40]!r}" if unknown else "")


@dataclass(frozen=True)
class NameKind:
    """The name of a task: text or a whole number."""

    def pack(self, value: Any, arrays: Arrays, at: str) -> Json:
        return self.unpack(value, arrays, at)

    def unpack(self, node: Json, arrays: Arrays, at: str) -> Name:  # noqa: ARG002
        expect(type(node) in (str, int), at, "is not a name: text or a whole number")
        return node  # type: ignore[no-any-return]


@dataclass(frozen=True)
class ByName:
    """A map from names to values of one kind, in order."""

    kind: Kind

    def pack(self, value: Any, arrays: Arrays, at: str) -> Json:
        return [[name, self.kind.pack(one, arrays, f"{at}.{n}")] for n, (name, one) in enumerate(value.items())]

    def unpack(self, node: Json, arrays: Arrays, at: str) -> dict[Name, Any]:
        pairs = name_pairs(node, at)
        return {name: self.kind.unpack(one, arrays, f"{at}.{n}") for n, (name, one) in enumerate(pairs.items())}


def name_pairs(node: Json, at: str) -> dict[Name, Json]:
    """``[[name, value], ...]`` as a map: names are text or whole numbers, none twice."""
    pairs = isinstance(node, list) and all(isinstance(pair, list) and len(pair) == 2 for pair in node)
    expect(pairs, at, "is not a list of names and values")
    for name, _ in node:
        NameKind().unpack(name, Arrays(), at)
    found = {name: value for name, value in node}  # noqa: C416
    expect(len(found) == len(node), at, "has a name twice")
    return found
