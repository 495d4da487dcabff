"""Maps whose values lie in files until somebody asks; a cache bounds how many stay in memory."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from lifelong._cache import Cache
from lifelong.persistence.checking import Name
from lifelong.persistence.states import StoredMap
from lifelong.persistence.text import Json

Loader = Callable[[Json, Name], Any]


class Entry:
    """One value of a map: stored, and known by its node; or new, and in memory until stored."""

    __slots__ = ("__weakref__", "node", "value")

    def __init__(self, node: Json = None, value: Any = None) -> None:
        self.node = node
        self.value = value


class Stored(StoredMap):
    """A map by task. Like all of a learner's state it never changes: ``|`` gives a new map."""

    def __init__(self, entries: dict[Name, Entry], load: Loader, cache: Cache) -> None:
        self._entries = entries
        self._load = load
        self._cache = cache

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

    def without(self, name: Name) -> "Stored":
        """All entries but one; none is loaded."""
        entries = {key: entry for key, entry in self._entries.items() if key != name}
        return Stored(entries, self._load, self._cache)

    def renamed(self, old: Name, new: Name) -> "Stored":
        """The same entries in the same order, one of them under another name."""
        entries = {new if key == old else key: entry for key, entry in self._entries.items()}
        return Stored(entries, self._load, self._cache)

    def __reduce__(self) -> tuple[Any, ...]:
        # A copy in another process or a pickle is an ordinary map in memory.
        return dict, (dict(self.items()),)

    def node_of(self, name: Name) -> Json:
        """Where the value is stored; None if it is new."""
        return self._entries[name].node


def stored(
    nodes: dict[Name, Json], before: Mapping[Name, Any], load: Loader, cache: Cache
) -> Stored:
    """The map after a save: entries with the same nodes stay, and new values go to the cache."""
    old: dict[Name, Entry] = {}
    if isinstance(before, Stored):
        old = before._entries
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
