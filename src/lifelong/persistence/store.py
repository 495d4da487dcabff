"""A learner that keeps itself saved, and that can be larger than memory."""

from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from lifelong._cache import Cache
from lifelong.exceptions import PersistenceError
from lifelong.learners.base import Learner
from lifelong.persistence.directory import MANIFEST, Directory, Gone
from lifelong.persistence.kinds import Name
from lifelong.persistence.lazy import stored
from lifelong.persistence.learners import name_of, states_of
from lifelong.persistence.manifest import (
    Manifest,
    empty_learner,
    read_checksum,
    read_manifest,
    state_nodes,
)
from lifelong.persistence.parameters import parameters_to_json
from lifelong.persistence.saving import write
from lifelong.persistence.states import Each, Loading
from lifelong.persistence.text import Json, explained

MAPPED_FROM = 2**20  # bytes; smaller files are read, because every mapped one costs a file handle
_MAY_DIFFER = {"n_jobs", "device"}  # what a learner is asked to do here and now, and does not depend on


@dataclass(frozen=True)
class Store:
    """Where a learner keeps itself: ``SillyForest(store="dir")``, or with settings ``SillyForest(store=Store(...))``.

    The learner is saved before ``partial_fit`` returns, so that what was learnt is never lost. A learner that is made
    with a directory that holds one already goes on from there. Encoders, channels and rows are loaded when they are
    needed, and at most ``cache_bytes`` of them stay in memory.

    Parameters
    ----------
    directory : path
    cache_bytes : int
        How much of what was loaded may stay in memory; 1 GiB if left out.

    Examples
    --------
    >>> import tempfile
    >>> from lifelong import SillyForest
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     a = SillyForest(random_state=0, store=folder).partial_fit([[0.0], [1.0]] * 5, ["no", "yes"] * 5, task="a")
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
    """What a learner knows of its store: which state it has seen last."""

    def __init__(self, directory: Directory, cache: Cache, checksum: str | None = None) -> None:
        self.directory, self.cache = directory, cache
        self.checksum = checksum  # of the manifest that the learner's state is from

    def __reduce__(self) -> tuple[Any, ...]:
        return OpenStore, (self.directory, self.cache, self.checksum)

    def refresh(self, learner: Learner) -> bool:
        """Bring the learner to the newest stored state; whether that is another one than it had."""
        newest = read_checksum(self.directory)
        if newest is None or newest == self.checksum:
            return False
        if self.checksum is None and vars(learner).get("tasks_"):
            raise PersistenceError(
                f"This learner has learnt tasks of its own, and {self.directory.path} holds another learner. Choose "
                "another directory, or make a new learner with this one."
            )
        try:
            manifest = read_manifest(self.directory)
        except Gone:
            return False
        with explained(f"{self.directory.path / MANIFEST} is damaged"):
            self._check_same(learner, manifest)
            fresh = empty_learner(manifest.node, getattr(learner, "network", None), getattr(learner, "encoder", None))
            nodes = state_nodes(manifest.node, fresh)
            state = {name: value for name, value in vars(fresh).items() if name.endswith("_")}
            state |= self._maps(fresh, nodes)
        learner.__dict__.update(state)  # in one step, as far as other threads can see
        self.checksum = manifest.checksum
        return True

    def _check_same(self, learner: Learner, manifest: Manifest) -> None:
        """A store goes on with the learner that it was made with."""
        node, path = manifest.node, self.directory.path
        if node["learner"] != name_of(learner):
            raise PersistenceError(f"{path} holds a {node['learner']}, not a {name_of(learner)}.")
        asked = parameters_to_json(learner)
        given = learner.get_params(deep=False).get("random_state")
        ignored = _MAY_DIFFER if isinstance(given, int) else _MAY_DIFFER | {"random_state"}
        for name, value in node["parameters"].items():
            if name in asked and asked[name] != value and name not in ignored:
                raise PersistenceError(
                    f"The learner in {path} has {name}={value!r}, and this one has {name}={asked[name]!r}. Give the "
                    "same parameters, or choose another directory.",
                    see="reliability",
                )

    @contextmanager
    def writing(self, learner: Learner) -> Iterator[None]:
        """A block that changes the learner, on top of the newest stored state; it is stored when the block ends."""
        with self.directory.locked():
            self.refresh(learner)
            yield
            manifest = write(learner, self.directory)
            learner.__dict__.update(self._maps(learner, state_nodes(manifest.node, learner)))
            self.checksum = manifest.checksum

    def _maps(self, learner: Learner, nodes: dict[str, Json]) -> dict[str, Any]:
        """The learner's state as maps that load their values when asked."""
        bare = copy(learner)  # what a value's checks need: parameters, shape and tasks as they are now
        for name in states_of(learner):
            bare.__dict__.pop(name, None)
        loading = Loading(bare, self.directory, mapped_from=MAPPED_FROM)
        maps: dict[str, Any] = {}
        for name, state in states_of(learner).items():
            if name in nodes and isinstance(state, Each):
                entries = state.entries(nodes[name], name, loading)
                maps[name] = stored(entries, vars(learner).get(name, {}), partial(_loaded, state, loading), self.cache)
            elif name in nodes:
                maps[name] = state.load(nodes[name], name, loading)
        return maps


def _loaded(state: Each, loading: Loading, node: Json, name: Name) -> Any:
    with explained(f"{loading.directory.path / MANIFEST} is damaged"):
        return state.state.load(node, name, loading)
