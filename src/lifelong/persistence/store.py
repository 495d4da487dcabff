"""A learner that keeps itself saved, and that can be larger than memory."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from lifelong._cache import Cache
from lifelong.exceptions import PersistenceError
from lifelong.learners.knowledge import Knowledge, TasksKnown
from lifelong.learners.silly import Silly
from lifelong.persistence.directory import MANIFEST, Directory, Gone
from lifelong.persistence.learners import name_of
from lifelong.persistence.manifest import (
    Manifest,
    brought_by,
    read_checksum,
    read_learner,
    read_manifest,
    read_tasks,
)
from lifelong.persistence.parameters import as_of_today, parameters_to_json
from lifelong.persistence.saving import lazily, write
from lifelong.persistence.text import explained

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
            stored = read_learner(manifest.node, *brought_by(learner))
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
        found = lazily(learner, known, manifest, self.directory, self.cache, before)
        return replace(found, version=manifest.checksum)  # type: ignore[return-value]


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
