"""A learner that keeps itself saved, and that can be larger than memory."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from lifelong._cache import Cache
from lifelong.exceptions import PersistenceError
from lifelong.learners.knowledge import Knowledge, TasksKnown
from lifelong.learners.silly import Silly
from lifelong.persistence.directory import MANIFEST, Directory, Gone
from lifelong.persistence.encoders import note_shapes
from lifelong.persistence.kinds import Name
from lifelong.persistence.lazy import stored
from lifelong.persistence.learners import name_of
from lifelong.persistence.manifest import (
    Manifest,
    read_checksum,
    read_learner,
    read_manifest,
    read_tasks,
    state_nodes,
)
from lifelong.persistence.parameters import as_of_today, parameters_to_json
from lifelong.persistence.saving import write
from lifelong.persistence.states import Frame, Loading, entries_of, load_from
from lifelong.persistence.text import Json, explained
from lifelong.schema import Each, Place, declared_fields

MAPPED_FROM = 2**20  # bytes; smaller files are read, because every mapped one costs a file handle
# What a learner is asked to do here and now; what it learns does not depend on it.
_MAY_DIFFER = {"n_jobs", "device"}


@dataclass(frozen=True)
class Store:
    """Where a learner keeps itself: ``store="dir"``, or with settings ``store=Store(...)``.

    The learner is saved before ``partial_fit`` returns, so that what was learnt is never lost. A
    learner that is made with a directory that holds one already goes on from there. Encoders,
    channels and rows are loaded when they are needed, and at most ``cache_bytes`` of them stay in
    memory.

    Parameters
    ----------
    directory : path
        Made with the first lesson. Several learners, also of several processes, may share it: each
        lesson begins from the newest state.
    cache_bytes : int, default 1 GiB
        How much of what was loaded may stay in memory. Answers do not depend on it.

    Examples
    --------
    >>> import tempfile
    >>> from lifelong import SillyForest
    >>> X, y = [[0.0], [1.0]] * 5, ["no", "yes"] * 5
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     a = SillyForest(random_state=0, store=folder).partial_fit(X, y, task="a")
    ...     b = SillyForest(random_state=0, store=folder)  # another process, after a crash
    ...     print(list(b.tasks_), b.predict([[0.9]], task="a"))
    ['a'] ['yes']
    """

    directory: str | Path
    cache_bytes: int = 2**30

    def open(self) -> "OpenStore":
        """The store in use by one learner."""
        return OpenStore(Directory(self.directory), Cache(self.cache_bytes))


class OpenStore:
    """A store in use by one learner. Which state the learner has seen last, its knowledge says."""

    def __init__(self, directory: Directory, cache: Cache) -> None:
        self.directory = directory
        self.cache = cache

    def __reduce__(self) -> tuple[Any, ...]:
        return OpenStore, (self.directory, self.cache)

    def newest(self, learner: Silly, known: Knowledge | None) -> Knowledge | None:
        """What is stored, if that is another state than ``known``; else ``known`` itself."""
        version = read_checksum(self.directory)
        if version is None or (known is not None and version == known.version):
            return known
        if known is not None and known.tasks and known.version is None:
            raise PersistenceError(
                f"This learner has learnt tasks of its own, and {self.directory.path} holds "
                "another learner. Choose another directory, or make a new learner with this one."
            )
        try:
            manifest = read_manifest(self.directory)
        except Gone:
            return known
        with explained(f"{self.directory.path / MANIFEST} is damaged"):
            check_same(learner, manifest, self.directory)
            encoder = getattr(learner, "encoder", None)
            stored = read_learner(manifest.node, getattr(learner, "network", None), encoder)
            tasks = read_tasks(manifest.node, stored)
            return self._lazy(learner, tasks, manifest, tasks)

    def updated(
        self,
        learner: Silly,
        known: Knowledge | None,
        change: Callable[[Knowledge | None], Knowledge | None],
    ) -> Knowledge | None:
        """Change the newest state, store the outcome, and return it; nobody else writes then."""
        with self.directory.locked():
            changed = change(self.newest(learner, known))
            if changed is None:
                return None
            manifest = write(learner, changed, self.directory)
            return self._lazy(learner, changed, manifest, changed)

    def _lazy(
        self, learner: Silly, known: TasksKnown, manifest: Manifest, before: TasksKnown
    ) -> Knowledge:
        """What is known, as maps that load their values when they are asked for one."""
        frame = Frame(learner, known.in_shape, known.tasks)
        loading = Loading(frame, self.directory, mapped_from=MAPPED_FROM)
        places = declared_fields(type(known))
        fields: dict[str, Any] = {}
        for field, node in state_nodes(manifest.node, known).items():
            place = places[field]
            if isinstance(place, Each):
                entries = entries_of(place, node, field, frame)
                if field == "encoders":
                    note_shapes(entries, frame)
                load = partial(self._loaded, place.place, loading)
                fields[field] = stored(entries, getattr(before, field), load, self.cache)
            else:
                fields[field] = load_from(place, node, field, loading)
        return replace(known, **fields, version=manifest.checksum)  # type: ignore[return-value]

    def _loaded(self, place: Place, loading: Loading, node: Json, name: Name) -> Any:
        with explained(f"{self.directory.path / MANIFEST} is damaged"):
            return load_from(place, node, name, loading)


def check_same(learner: Silly, manifest: Manifest, directory: Directory) -> None:
    """A store goes on with the learner that it was made with."""
    node = manifest.node
    path = directory.path
    if node["learner"] != name_of(learner):
        raise PersistenceError(f"{path} holds a {node['learner']}, not a {name_of(learner)}.")
    asked = as_of_today(parameters_to_json(learner))
    given = learner.get_params(deep=False).get("random_state")
    ignored = set(_MAY_DIFFER)
    if not isinstance(given, int):  # a generator, or none: every learner draws a number of its own
        ignored.add("random_state")
    for name, value in as_of_today(node["parameters"]).items():
        if name in asked and asked[name] != value and name not in ignored:
            raise PersistenceError(
                f"The learner in {path} has {name}={value!r}, and this one has "
                f"{name}={asked[name]!r}. Give the same parameters, or choose another directory.",
                see="reliability",
            )
