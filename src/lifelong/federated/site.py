"""A site: a saved learner with private rows, which gives its encoders and takes those of others."""

from pathlib import Path
from tempfile import TemporaryDirectory

from lifelong.exceptions import InputError, LifelongError, PersistenceError, UnsupportedError
from lifelong.federated.messages import (
    MAX_BYTES,
    MAX_OTHERS,
    Reply,
    Request,
    check_site_name,
    encoder_name,
    one_line,
    site_of,
)
from lifelong.learners.silly import Silly
from lifelong.persistence.directory import Directory
from lifelong.persistence.exchange import export_encoder
from lifelong.persistence.saving import load, write
from lifelong.tasks.base import TaskName


class Site:
    """A learner in a directory that takes part in an exchange of encoders.

    The learner is made and taught by its owner, with rows that stay here: ``save(learner,
    directory)``. Every answer reads it from the directory and saves it there if it took something,
    so that a site may stop and start at any time.

    Parameters
    ----------
    name : str
        What others call this site; its encoders are called ``name/task``.
    directory : path
        Where a SillyForest or SillyNetwork was saved.
    max_bytes : int, default 100 MB
        Larger encoders of others are refused.
    max_others : int, default 1000
        How many encoders of others this site takes at most, whatever a hub sends.

    Examples
    --------
    >>> import tempfile
    >>> from lifelong import SillyForest, load, save
    >>> learner = SillyForest(random_state=0)
    >>> learner = learner.partial_fit([[0.0], [1.0]] * 5, ["no", "yes"] * 5, task="scans")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(learner, folder)
    ...     reply = Site("lyon", folder).answer(Request())
    >>> list(reply.encoders)
    ['lyon/scans']
    """

    def __init__(
        self,
        name: str,
        directory: str | Path,
        *,
        max_bytes: int = MAX_BYTES,
        max_others: int = MAX_OTHERS,
    ) -> None:
        self.name = check_site_name(name)
        self.directory = Path(directory)
        self.max_bytes = max_bytes
        self.max_others = max_others

    def answer(self, request: Request) -> Reply:
        """Take the encoders that came, one by one, and give one's own that the hub does not know.

        What cannot be used is refused with a reason, and the learner stays as it was.
        """
        if not self.directory.is_dir():
            raise PersistenceError(
                f"There is no saved learner in {self.directory}: save(learner, directory) first."
            )
        place = Directory(self.directory)
        # Locked from reading to writing: no task that is learnt meanwhile can be lost.
        with place.locked():
            learner = self._learner()
            outcomes = {
                name: self._take(learner, name, content)
                for name, content in request.encoders.items()
            }
            if None in outcomes.values():
                write(learner, learner.knowledge_, place)
        own = self._own(learner)
        new = {name: task for name, task in own.items() if name not in request.known}
        here = {*own, *map(str, learner.encoders_)}
        return Reply(
            self.name,
            encoders={name: self._file(learner, task) for name, task in new.items()},
            has=request.known & here,  # no name that the hub does not know goes out
            refused={name: reason for name, reason in outcomes.items() if reason is not None},
        )

    def _learner(self) -> Silly:
        learner = load(self.directory)
        if not isinstance(learner, Silly):
            raise UnsupportedError(
                f"{type(learner).__name__} has no encoders. SillyForest and SillyNetwork do."
            )
        return learner

    def _own(self, learner: Silly) -> dict[str, TaskName]:
        """The encoders that were trained here, by the names that others know; those of others are
        not passed on.
        """
        known = learner.knowledge_
        tasks = [task for task in known.tasks if known.address(task) in known.encoders]
        own = {encoder_name(self.name, task): task for task in tasks}
        if len(own) < len(tasks):
            raise InputError(
                "Two tasks have names that read the same, as 3 and '3' do. Rename one of them"
                " first."
            )
        return own

    def _n_others(self, learner: Silly) -> int:
        """How many encoders came from elsewhere."""
        known = learner.knowledge_
        own = {known.address(task) for task in known.tasks}
        return sum(name not in own for name in known.encoders)

    def _take(self, learner: Silly, name: str, content: bytes) -> str | None:
        """Why an encoder was refused, or None."""
        try:
            if site_of(name) == self.name:
                raise InputError("It has the name of an encoder of this site.")
            if self._n_others(learner) >= self.max_others:
                raise InputError(f"This site takes {self.max_others} encoders of others at most.")
            with TemporaryDirectory() as folder:
                file = Path(folder) / "file"
                file.write_bytes(content)
                try:
                    learner.add_encoder(file, name, max_bytes=self.max_bytes)
                except PersistenceError as error:
                    raise PersistenceError(str(error).replace(str(file), "the file")) from None
        except LifelongError as error:
            return one_line(error)
        return None

    def _file(self, learner: Silly, task: TaskName) -> bytes:
        with TemporaryDirectory() as folder:
            file = Path(folder) / "file"
            export_encoder(learner, task, file)
            return file.read_bytes()
