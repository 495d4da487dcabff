"""``save`` and ``load``."""

from contextlib import suppress
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

from lifelong._cache import Cache
from lifelong.exceptions import NotLearntError, PersistenceError
from lifelong.learners.base import Learner
from lifelong.learners.knowledge import TasksKnown
from lifelong.persistence.checking import Name
from lifelong.persistence.directory import MANIFEST, Directory, DiskFull, Gone
from lifelong.persistence.encoders import note_shapes
from lifelong.persistence.lazy import stored
from lifelong.persistence.manifest import (
    Manifest,
    check_loadable,
    describe,
    read_checksum,
    read_learner,
    read_manifest,
    read_state,
    read_tasks,
    sealed,
    state_nodes,
)
from lifelong.persistence.states import Frame, Loading, Saving, entries_of, files_in, load_from
from lifelong.persistence.text import Json, explained
from lifelong.schema import Each, Place, declared_fields

_ATTEMPTS = 1000

LAZY_BYTES = 2**30
"""Bytes of a learner that is opened lazily which may stay in memory."""

MAPPED_FROM = 2**20
"""Bytes; smaller files are read, because every mapped one costs a file handle."""


def save(learner: Learner, directory: str | Path) -> None:
    """Save a learner to a directory, in place of what was saved there before.

    Only what is new since then is written. When this returns, everything is on the disk; if it
    fails or the process is killed, the directory holds the learner of before. Nothing in the files
    can run code.

    Parameters
    ----------
    learner : Learner
        Any learner of this library that has learnt a task.
    directory : path
        Made if it does not exist.

    Raises
    ------
    PersistenceError
        If the learner holds something that no file can hold (a class of the user's own, say), if
        another process is writing there, or if the disk fails. What was saved before is intact.
    NotLearntError
        If there is nothing to save.

    See Also
    --------
    load : the way back.
    Store : a learner that saves itself.

    Examples
    --------
    >>> import tempfile
    >>> from lifelong import SillyForest
    >>> learner = SillyForest(random_state=0).fit([[0.0], [1.0]] * 5, ["no", "yes"] * 5)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(learner, folder)
    ...     print(load(folder).predict([[0.9]]))
    ['yes']
    """
    _check_savable(learner)
    place = Directory(directory)
    with place.locked():
        write(learner, learner._known(), place)


def version_of(directory: str | Path) -> str | None:
    """Which state a directory holds; None if no learner is there."""
    return read_checksum(Directory(directory))


def save_unless_changed(learner: Learner, directory: str | Path, version: str | None) -> None:
    """``save``, for who has loaded a state and gone on from there: if another process has saved a
    newer one meanwhile, that one stays, and this is refused.
    """
    _check_savable(learner)
    place = Directory(directory)
    with place.locked():
        if read_checksum(place) != version:
            raise PersistenceError(
                f"Another process has saved to {place.path} meanwhile. What it has saved is there, "
                "and nothing was changed. Run the command again.",
                see="reliability",
            )
        write(learner, learner._known(), place)


def _check_savable(learner: Learner) -> None:
    if not isinstance(learner, Learner):
        raise PersistenceError(
            f"{type(learner).__name__} is no learner of this library, so it cannot be saved."
        )
    if not learner.__sklearn_is_fitted__():
        raise NotLearntError(
            f"This {type(learner).__name__} has not learnt any task yet: there is nothing to save."
        )


def write(learner: Learner, known: TasksKnown, directory: Directory) -> Manifest:
    """Save what a learner knows; the caller holds the lock."""
    frame = Frame(learner, known.in_shape, known.tasks, loaded=vars(known))
    to = Saving(frame, directory, directory.files())
    try:
        with explained(f"This {type(learner).__name__} cannot be saved"):
            node = describe(learner, known, to)
            text = sealed(node)
            check_loadable(node, text, learner, frame)
        _switch(directory, text, frugal=not to.written)
    except BaseException:
        # Whatever was written for nothing goes: it may be what has filled the disk.
        clean_up(directory)
        raise
    directory.clean(to.used)
    with suppress(PersistenceError):  # what a full disk has taken of the reserve, if there is room
        directory.reserve(len(text))
    return Manifest(node, text[-67:-3].decode())


def _switch(directory: Directory, text: bytes, *, frugal: bool) -> None:
    """Let the new manifest count. One that needs no new file, as after ``forget``, may use the
    space that is kept for that.
    """
    try:
        directory.reserve(len(text))
        directory.switch(text)
    except DiskFull:
        if not frugal:
            raise
        clean_up(directory)
        directory.release()
        directory.switch(text)


def clean_up(directory: Directory) -> None:
    """Remove what the manifest on the disk does not refer to; nothing if that cannot be told."""
    with suppress(PersistenceError):
        kept = []
        if (directory.path / MANIFEST).exists():
            node = read_manifest(directory).node
            kept = [ref.name for ref in files_in(node["state"])]
        directory.clean(kept)


def load(
    directory: str | Path,
    *,
    network: Any = None,
    encoder: Any = None,
    device: str | None = None,
    lazy: bool = False,
) -> Learner:
    """The learner that was saved to a directory: it predicts, and goes on learning, as if it had
    never been away.

    Every byte is checked. A directory that is damaged, or that somebody has made to do harm, gives
    a :class:`~lifelong.exceptions.PersistenceError` and nothing else. Saves by others meanwhile do
    no harm: the result is the learner from before such a save, or from after it.

    Parameters
    ----------
    directory : path
        Where :func:`save`, or a learner with a store, has written.
    network : function, optional
        For a learner whose ``network`` is a function: that function, which no file can hold.
    encoder : PretrainedEncoder, optional
        For a learner that stands on a pretrained network: that network, which the directory names
        but does not hold. It must be the same, byte for byte; where its folder lies does not
        matter.
    device : str, optional
        Where networks shall be, if not where they were: ``"cpu"`` for a learner from a machine with
        a GPU.
    lazy : bool, default False
        Whether encoders, channels and rows of a task are read, and checked, when they are first
        asked for, and not now. A learner of many tasks opens at once, and the parts used last stay
        in memory, at most a GiB of them. The directory has to stay as it is.

    Returns
    -------
    Learner
        Of the class that was saved.

    Raises
    ------
    PersistenceError
        Whatever is wrong with the directory.

    See Also
    --------
    save : the way there, with an example.
    """
    place = Directory(directory)
    before = None
    for _ in range(_ATTEMPTS):
        try:
            manifest = read_manifest(place)
        except Gone:
            raise PersistenceError(
                f"There is no saved learner in {place.path}: it has no {MANIFEST}.",
                see="reliability",
            ) from None
        try:
            return _loaded(manifest, place, device, lazy=lazy, network=network, encoder=encoder)
        except Gone as error:
            # A writer has replaced the manifest and removed what only the old one needed: read the
            # new one.
            if manifest.checksum == before:
                raise PersistenceError(f"{error} The directory is not complete.") from None
            before = manifest.checksum
    raise PersistenceError(f"{place.path} is being written to all the time. Try again later.")


def _loaded(
    manifest: Manifest, place: Directory, device: str | None, *, lazy: bool, **given: Any
) -> Learner:
    with explained(f"{place.path / MANIFEST} is damaged"):
        node = manifest.node
        if (
            device is not None
            and isinstance(node["parameters"], dict)
            and "device" in node["parameters"]
        ):
            node = {**node, "parameters": {**node["parameters"], "device": device}}
        learner = read_learner(node, **given)
        known = read_tasks(node, learner)
        if lazy:
            learner.knowledge_ = lazily(learner, known, manifest, place, Cache(LAZY_BYTES))
            return learner
        loading = Loading(Frame(learner, known.in_shape, known.tasks), place)
        learner.knowledge_ = read_state(node, known, loading)
    return learner


def lazily(
    learner: Learner,
    known: TasksKnown,
    manifest: Manifest,
    place: Directory,
    cache: Cache,
    before: TasksKnown | None = None,
) -> TasksKnown:
    """What is known, as maps that load their values when they are asked for one.

    Parameters
    ----------
    known : TasksKnown
        What the manifest says without any file.
    before : TasksKnown, optional
        What is in memory already, of the same manifest.
    """
    if before is None:
        before = known
    frame = Frame(learner, known.in_shape, known.tasks)
    loading = Loading(frame, place, mapped_from=MAPPED_FROM)
    places = declared_fields(type(known))
    fields: dict[str, Any] = {}
    for field, node in state_nodes(manifest.node, known).items():
        home = places[field]
        if isinstance(home, Each):
            entries = entries_of(home, node, field, frame)
            if field == "encoders":
                note_shapes(entries, frame)
            load_one = partial(_loaded_one, home.place, loading)
            fields[field] = stored(entries, getattr(before, field), load_one, cache)
        else:
            fields[field] = load_from(home, node, field, loading)
        frame.loaded[field] = fields[field]
    return replace(known, **fields)


def _loaded_one(home: Place, loading: Loading, node: Json, name: Name) -> Any:
    with explained(f"{loading.directory.path / MANIFEST} is damaged"):
        return load_from(home, node, name, loading)
