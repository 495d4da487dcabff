"""What reading a file stands on: its arrays, lengths that are known, and refusals."""

from typing import Any

from numpy.typing import NDArray

from lifelong.persistence.text import Json, Unfit

Name = str | int  # of a task or an encoder


class Arrays(dict[str, NDArray[Any]]):
    """The arrays of one file, by place. Reading takes them out: what is left was not expected."""

    def take(self, at: str) -> NDArray[Any]:
        """The array at a place."""
        expect(at in self, f"array {at!r}", "is missing")
        return self.pop(at)

    def nothing_left(self) -> None:
        """Refuse arrays that nobody asked for."""
        if self:
            raise Unfit(f"array {next(iter(self))!r} does not belong here")


class Scope(dict[str, Any]):
    """Lengths that are known where a value stands, by name; and what a custom kind needs.

    ``p`` numbers per row of shape ``in_shape``; ``K`` classes and ``n_rows`` of the task;
    ``columns`` and ``leaves`` of the encoder; ``learner`` and ``loaded`` for custom kinds.
    """

    def with_(self, **more: Any) -> "Scope":
        """A scope inside of this one."""
        return Scope({**self, **more})


def expect(condition: bool, at: str, what: str) -> None:
    """Refuse what a right file cannot hold."""
    if not condition:
        raise Unfit(f"{at or 'the value'} {what}")


def join(at: str, name: str) -> str:
    """A place inside a place."""
    if not at:
        return name
    return f"{at}.{name}"


def keys(
    node: Json,
    wanted: set[str],
    at: str,
    optional: set[str] = frozenset(),  # type: ignore[assignment]
) -> None:
    """Refuse a JSON object that lacks a key or has one too many."""
    expect(isinstance(node, dict), at, "is not an object")
    lacking = wanted - set(node)
    expect(not lacking, at, f"lacks {', '.join(sorted(lacking))}")
    unknown = sorted(set(node) - wanted - optional)
    if unknown:
        raise Unfit(f"{at} has the unknown key {unknown[0][:40]!r}")


def name_pairs(node: Json, at: str) -> dict[Name, Json]:
    """``[[name, value], ...]`` as a map: names are text or whole numbers, none twice."""
    are_pairs = isinstance(node, list) and all(
        isinstance(pair, list) and len(pair) == 2 for pair in node
    )
    expect(are_pairs, at, "is not a list of names and values")
    found: dict[Name, Json] = {}
    for name, value in node:
        if type(name) not in (str, int):
            raise Unfit(f"{at} has a name that is neither text nor a whole number")
        if name in found:
            raise Unfit(f"{at} has a name twice")
        found[name] = value
    return found
