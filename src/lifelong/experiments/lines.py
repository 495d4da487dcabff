"""Rows as lines of JSON. What many rows share is a line of its own, written once and numbered.

::

    {"kind": "provenance", "number": 1, "spec": "92d7…", "versions": {…}, "machine": "…"}
    {"part": "CIFAR 10×10", "learner": "silly-n", …, "error": 0.603, …, "provenance": 1}

Rows of older runs carry their provenance themselves; they are read as well.
"""

import json
from collections.abc import Iterable, Iterator
from typing import Any

from lifelong.experiments.rows import Row

PROVENANCE = "provenance"
SHARED = ("spec", "versions", "machine")


class RowLines:
    """Reads and writes the lines of one file; knows which provenance the file has already."""

    def __init__(self) -> None:
        self._shared: dict[int, dict[str, Any]] = {}

    def read(self, line: bytes) -> Row | None:
        """The row of a line; None if the line describes a provenance, which is remembered.

        Raises ValueError or TypeError, with a reason, if it is neither.
        """
        content = json.loads(line)
        if not isinstance(content, dict):
            raise TypeError("not a JSON object")
        if content.get("kind") == PROVENANCE:
            self._remember(content)
            return None
        if PROVENANCE in content:
            content |= self._find(content.pop(PROVENANCE))
        return Row(**content)

    def written(self, row: Row) -> Iterator[bytes]:
        """The line of a row, after that of its provenance if the file does not have it yet."""
        content = row.to_json()
        shared = {name: content.pop(name) for name in SHARED}
        number = next((n for n, known in self._shared.items() if known == shared), None)
        if number is None:
            number = max(self._shared, default=0) + 1
            self._shared[number] = shared
            yield _line({"kind": PROVENANCE, "number": number, **shared})
        yield _line({**content, PROVENANCE: number})

    def _remember(self, content: dict[str, Any]) -> None:
        missing = [name for name in ("number", *SHARED) if name not in content]
        if missing:
            raise ValueError(f"a provenance without {missing[0]!r}")
        self._shared[content["number"]] = {name: content[name] for name in SHARED}

    def _find(self, number: int) -> dict[str, Any]:
        if number not in self._shared:
            raise ValueError(f"provenance {number} is not described by any line before")
        return self._shared[number]


def all_lines(rows: Iterable[Row]) -> bytes:
    """The content of a file with these rows."""
    lines = RowLines()
    return b"".join(line for row in rows for line in lines.written(row))


def _line(content: dict[str, Any]) -> bytes:
    try:
        return json.dumps(content, ensure_ascii=False).encode() + b"\n"
    except UnicodeEncodeError:  # half of a surrogate pair, which only an escape can write
        return json.dumps(content).encode() + b"\n"
