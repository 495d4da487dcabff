"""Maps whose values lie in files until somebody asks for one, and the cache that bounds how many stay in memory."""

import threading
import weakref
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from lifelong.persistence.kinds import Name
from lifelong.persistence.text import Json

Loader = Callable[[Json, Name], Any]


class Entry:
    """One value of a map: stored, and known by its node; or new, and held in memory until it is stored."""

    __slots__ = ("__weakref__", "node", "value")

    def __init__(self, node: Json = None, value: Any = None) -> None:
        self.node, self.value = node, value


class Cache:
    """The values used last, of at most so many bytes; a value goes with its entry, as when a task is forgotten."""

    def __init__(self, max_bytes: int) -> None:
        # A lock that its holder may take again: an entry can die at any moment, also inside of a block below.
        self.max_bytes, self._total, self._lock = max_bytes, 0, threading.RLock()
        self._values: OrderedDict[weakref.ref[Entry], tuple[Any, int]] = OrderedDict()

    def __reduce__(self) -> tuple[Any, ...]:
        return Cache, (self.max_bytes,)

    def get(self, entry: Entry) -> Any:
        """The value, if it is there."""
        with self._lock:
            key = weakref.ref(entry)
            found = self._values.get(key)
            if found is None:
                return None
            self._values.move_to_end(key)
            return found[0]

    def put(self, entry: Entry, value: Any) -> None:
        """Keep a value, and drop those that have not been used for longest."""
        size = int(value.nbytes)
        with self._lock:
            key = weakref.ref(entry, self._drop)
            if key in self._values or size > self.max_bytes:
                return
            self._values[key] = value, size
            self._total += size
            while self._total > self.max_bytes:
                self._drop(next(iter(self._values)))

    def _drop(self, key: "weakref.ref[Entry]") -> None:
        with self._lock:
            _, size = self._values.pop(key, (None, 0))
            self._total -= size

    @property
    def nbytes(self) -> int:
        """Bytes of all values that are kept."""
        return self._total


class Stored(Mapping[Name, Any]):
    """A map by task. Like all of a learner's state it never changes: ``|`` gives a new map."""

    def __init__(self, entries: dict[Name, Entry], load: Loader, cache: Cache) -> None:
        self._entries, self._load, self._cache = entries, load, cache

    def __getitem__(self, name: Name) -> Any:
        entry = self._entries[name]
        if entry.node is None:
            return entry.value
        value = self._cache.get(entry)
        if value is None:
            value = self._load(entry.node, name)
            self._cache.put(entry, value)
        return value

    def __iter__(self) -> Iterator[Name]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, name: object) -> bool:
        return name in self._entries

    def __or__(self, new: Mapping[Name, Any]) -> "Stored":
        entries = {**self._entries, **{name: Entry(value=value) for name, value in new.items()}}
        return Stored(entries, self._load, self._cache)

    def __reduce__(self) -> tuple[Any, ...]:
        return dict, (dict(self.items()),)  # a copy in another process or a pickle is an ordinary map in memory

    def node_of(self, name: Name) -> Json:
        """Where the value is stored; None if it is new."""
        return self._entries[name].node


def stored(nodes: dict[Name, Json], before: Mapping[Name, Any], load: Loader, cache: Cache) -> Stored:
    """The map after a save: entries whose nodes are the same stay the same, and new values go to the cache."""
    old = before._entries if isinstance(before, Stored) else {}
    entries: dict[Name, Entry] = {}
    for name, node in nodes.items():
        known = old.get(name)
        if known is not None and known.node is node:
            entries[name] = known
            continue
        entries[name] = Entry(node)
        if known is not None and known.node is None:
            cache.put(entries[name], known.value)
        elif known is None and name in before:
            cache.put(entries[name], before[name])
    return Stored(entries, load, cache)
