"""What can be saved: declared on the fields of the dataclasses that are saved, and nowhere else.

A field says of what kind its values are (a whole number, an array of some shape, …), and a field of
a learner's knowledge also says where they go (into the manifest, into a file of their own, one file
per task). :mod:`lifelong.persistence` derives writing, checking and reading from that. Nothing here
reads or writes::

    @dataclass(frozen=True)
    class StoredRows:
        X: Rows = saved(Array("float32", ("n", "*in_shape")))
        y: Codes = saved(Places("n", below="K"))

A length is a number, None (any), the name of a length that is known (``"K"``, the classes of the
task), or a name that is not: the first array of the record sets it, and all others must agree.
``"k<=K"`` is a new name and its upper bound, ``"n>=1"`` a new name and its least value.
"""

import math
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from typing import Any, Protocol, runtime_checkable

Length = int | None | str | Callable[[Mapping[str, Any]], int]
"""A number, any (None), a name, or a function of the lengths that are known."""

_SAVED = "saved"
_OMIT = "omit default"
_LATER = "later"


class Kind:
    """What values a field may have."""


class Place:
    """Where values of a learner's knowledge go."""


@dataclass(frozen=True)
class Whole(Kind):
    """A whole number; numpy's become Python's."""

    least: int = 0
    most: int | Callable[[Mapping[str, Any]], int] = 2**63 - 1


@dataclass(frozen=True)
class Number(Kind):
    """A finite number, whole or not."""

    least: float = -math.inf
    most: float = math.inf


@dataclass(frozen=True)
class Text(Kind):
    """Text; one of a few words, if they are given."""

    choices: tuple[str, ...] | None = None


@dataclass(frozen=True)
class Exactly(Kind):
    """One value: of JSON, or a length that is known by name."""

    value: Any = None
    name: str | None = None


@dataclass(frozen=True)
class AnyOf(Kind):
    """The first of several kinds that fits."""

    kinds: tuple[Kind, ...]


@dataclass(frozen=True)
class Several(Kind):
    """A tuple of values of one kind."""

    kind: Kind
    least: int = 0


@dataclass(frozen=True)
class Array(Kind):
    """An array of one of some dtypes (names, separated by spaces)."""

    dtypes: str
    shape: tuple[Length, ...]
    finite: bool = True
    least: float | None = None


@dataclass(frozen=True)
class Places(Kind):
    """Whole numbers (n,) from 0 to ``below`` − 1: places in something of that length."""

    n: Length
    below: Length


@dataclass(frozen=True)
class Represented(Kind):
    """Rows as an encoder represents them: leaves of each tree (n, B), or dense vectors (n, d)."""

    n: Length
    dense: str  # dtype of dense vectors
    known_leaves: bool = False  # whether every leaf must be one of the encoder's


@dataclass(frozen=True)
class ByName(Kind):
    """A map from names of tasks or encoders to values of one kind, in order."""

    kind: Kind


@dataclass(frozen=True)
class TaskNames(Kind):
    """The name of a task: text or a whole number."""


@dataclass(frozen=True)
class Record(Kind):
    """An object of a class whose fields are declared; ``named`` is False where a list holds their
    values in order.
    """

    make: type
    named: bool = True


@dataclass(frozen=True)
class Tagged(Kind):
    """An object of one of several classes, told apart by a word: the word, and where
    the class is.
    """

    homes: Mapping[str, str]  # "ForestEncoder" → "lifelong.encoders.forest:ForestEncoder"


@dataclass(frozen=True)
class Custom(Kind):
    """Something that has its own way to be saved; ``persistence`` knows it by this word."""

    word: str


@dataclass(frozen=True)
class InManifest(Place):
    """In the manifest itself."""

    kind: Kind


@dataclass(frozen=True)
class InFile(Place):
    """In a file of its own, whose name begins like this."""

    prefix: str
    kind: Kind


@dataclass(frozen=True)
class Maybe(Place):
    """None, or somewhere else."""

    place: Place


@dataclass(frozen=True)
class InOrder(Place):
    """A tuple of values, every one on its own."""

    place: Place


@dataclass(frozen=True)
class Each(Place):
    """A map by task (or encoder), every entry on its own."""

    place: Place
    every_task: bool = True


@dataclass(frozen=True)
class SplitByEncoder(Place):
    """A value with a part for each encoder: a later save writes the parts for new encoders alone.

    ``rest`` says where its other fields are: in the manifest, or in a file of their own.
    """

    # word → "module:class"; the word is in the manifest where there are several
    homes: Mapping[str, str]
    rest: str = ""  # the name of the node that refers to the file; empty: in the manifest


@dataclass(frozen=True)
class PerEncoder(Kind):
    """The parts of such a value: a map from encoders to values of one kind.

    Lengths that are known of an encoder: ``columns`` of its representation, and ``leaves`` (0:
    dense vectors).
    """

    kind: Kind


@dataclass(frozen=True)
class Elsewhere(Place):
    """In a way of its own; ``persistence`` knows it by this word."""

    word: str


@runtime_checkable
class Checked(Protocol):
    """An object whose fields must fit together; asked when one has been read."""

    def problem(self, lengths: Mapping[str, Any]) -> str | None:
        """What is wrong with it, as the end of a sentence; None if nothing is."""
        ...


def saved(
    declared: Kind | Place, *, omit_default: bool = False, later: bool = False, **more: Any
) -> Any:
    """A dataclass field that is saved; ``more`` goes to :func:`dataclasses.field`.

    With ``omit_default`` it is only written where it differs from its default. Of a learner's
    knowledge every field must be there, but for those that came ``later`` than the format.
    """
    return field(metadata={_SAVED: declared, _OMIT: omit_default, _LATER: later}, **more)


def later_fields(record: type) -> set[str]:
    """Fields that files of earlier versions lack."""
    return {item.name for item in fields(record) if item.metadata.get(_LATER)}


def declared_fields(record: type) -> dict[str, Any]:
    """What each field of a dataclass is declared to be; undeclared fields are not saved."""
    return {item.name: item.metadata[_SAVED] for item in fields(record) if _SAVED in item.metadata}


def required_fields(record: type) -> set[str]:
    """Declared fields without a default: a file must have them, and may lack all others."""
    return {
        item.name
        for item in fields(record)
        if _SAVED in item.metadata and item.default is MISSING and item.default_factory is MISSING
    }


def written_fields(value: Any) -> dict[str, Any]:
    """The declarations of those fields of an object that are to be written."""
    written = {}
    for item in fields(value):
        if _SAVED not in item.metadata:
            continue
        if item.metadata[_OMIT] and getattr(value, item.name) == item.default:
            continue
        written[item.name] = item.metadata[_SAVED]
    return written


def maybe(kind: Kind) -> AnyOf:
    """None, or a value of that kind."""
    return AnyOf((Exactly(None), kind))


def record(make: type) -> Record:
    """An object of that class."""
    return Record(make)


COUNT = Whole(1)
SHARE = Number(0, 1)
POSITIVE = Number(5e-324)
FLAG = AnyOf((Exactly(False), Exactly(True)))
COUNTERS = "uint8 uint16 uint32 uint64 float32"
"""Counts of rows in the smallest type that holds them; fractions where rows have weights."""
