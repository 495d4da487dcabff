"""``save`` and ``load``."""

from pathlib import Path
from typing import Any

from lifelong.exceptions import NotLearntError, PersistenceError
from lifelong.learners.base import Learner
from lifelong.learners.knowledge import TasksKnown
from lifelong.persistence.directory import MANIFEST, Directory, Gone
from lifelong.persistence.manifest import (
    Manifest,
    describe,
    read_learner,
    read_manifest,
    read_state,
    read_tasks,
    sealed,
)
from lifelong.persistence.states import Frame, Loading, Saving
from lifelong.persistence.text import explained

_ATTEMPTS = 1000


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
    if not isinstance(learner, Learner):
        raise PersistenceError(
            f"{type(learner).__name__} is no learner of this library, so it cannot be saved."
        )
    if not learner.__sklearn_is_fitted__():
        raise NotLearntError(
            f"This {type(learner).__name__} has not learnt any task yet: there is nothing to save."
        )
    place = Directory(directory)
    with place.locked():
        write(learner, learner._known(), place)


def write(learner: Learner, known: TasksKnown, directory: Directory) -> Manifest:
    """Save what a learner knows; the caller holds the lock."""
    to = Saving(
        Frame(learner, known.in_shape, known.tasks, loaded=vars(known)),
        directory,
        directory.files(),
    )
    with explained(f"This {type(learner).__name__} cannot be saved"):
        node = describe(learner, known, to)
        text = sealed(node)
    directory.switch(text)
    directory.clean(to.used)
    return Manifest(node, text[-67:-3].decode())


def load(
    directory: str | Path, *, network: Any = None, encoder: Any = None, device: str | None = None
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
            return _loaded(manifest, place, device, network=network, encoder=encoder)
        except Gone as error:
            # A writer has replaced the manifest and removed what only the old one needed: read the
            # new one.
            if manifest.checksum == before:
                raise PersistenceError(f"{error} The directory is not complete.") from None
            before = manifest.checksum
    raise PersistenceError(f"{place.path} is being written to all the time. Try again later.")


def _loaded(manifest: Manifest, place: Directory, device: str | None, **given: Any) -> Learner:
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
        loading = Loading(Frame(learner, known.in_shape, known.tasks), place)
        learner.knowledge_ = read_state(node, known, loading)
    return learner
