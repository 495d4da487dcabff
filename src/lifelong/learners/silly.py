"""SiLLy-X: representation ensembling with any encoder and any channel."""

from collections.abc import Callable, Iterable, Mapping
from copy import copy
from typing import Any, ClassVar, Literal, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from lifelong._provided import provided
from lifelong._random import RandomState, seed_from
from lifelong._validation import (
    Rows,
    check_choice,
    check_count,
    check_jobs,
    check_share,
    check_task_name,
)
from lifelong.channels.base import Channel, FittedChannel
from lifelong.encoders.base import Encoder, FittedEncoder
from lifelong.engines import current
from lifelong.exceptions import InputError, ParameterError, PersistenceError
from lifelong.learners import algorithms, many, shared_networks
from lifelong.learners.algorithms import Parts
from lifelong.learners.base import Answer, Learner
from lifelong.learners.density import Density, Scaling
from lifelong.learners.explain import Explanation, explain
from lifelong.learners.knowledge import Knowledge, Lesson, StoredRows
from lifelong.learners.task_inference import novelty
from lifelong.tasks.base import Task, TaskName


class OpenStore(Protocol):
    """A directory where a learner keeps what it knows. It belongs to one learner object."""

    def newest(self, learner: "Silly", known: Knowledge | None) -> Knowledge | None:
        """What is stored, if that is another state than ``known``; else ``known`` itself."""
        ...

    def updated(
        self,
        learner: "Silly",
        known: Knowledge | None,
        change: Callable[[Knowledge | None], Knowledge],
    ) -> Knowledge:
        """Change the newest state, store the outcome, and return it; nobody else writes then."""
        ...


class NewEncoder(Protocol):
    """An encoder from elsewhere, checked."""

    @property
    def encoder(self) -> FittedEncoder: ...
    @property
    def in_shape(self) -> tuple[int, ...]: ...
    @property
    def checksum(self) -> str | None: ...


class Files(Protocol):
    """What a learner needs of files; :mod:`lifelong.persistence` provides it."""

    def open_store(self, store: Any) -> OpenStore: ...

    def read_encoder(
        self, source: Any, learner: "Silly", known: Knowledge | None, max_bytes: int
    ) -> NewEncoder: ...


class Silly(Learner):
    """Representation ensembling with parts of your choice.

    Parameters
    ----------
    encoder : Encoder
        How a task's encoder is trained, such as a :class:`~lifelong.ForestEncoder`.
    channel : Channel
        What each task learns on the representations of all encoders, such as a
        :class:`~lifelong.LeafChannel`.
    budget : int, optional
        At most so many encoders. None, the default: every task trains one.
    keep : "first" (the paper) or "useful", default "first"
        Which encoders, once the budget is spent. ``"first"``: no more are trained, no rows are
        kept, and new tasks get channels alone. ``"useful"``: every task trains one, and the one
        that tells least about all tasks so far goes; this takes ridge channels, and rows are kept
        as ``replay`` says.
    replay : float, default 1
        Share of a task's rows that is kept for later encoders (backward transfer). 0 keeps none:
        then old tasks gain nothing from new ones.
    task_inference : bool, default True
        Whether to note where tasks' rows lie, which :meth:`predict` without a task,
        :meth:`predict_task` and :meth:`novelty` need. Without it, learning is faster and what is
        learnt smaller.
    n_jobs : int, optional
        Threads (trees, channels), or processes (networks in :meth:`partial_fit_many`). Results do
        not depend on it. None, the default: one.
    random_state : int, Generator or None, default None
        The same number gives the same bits.
    store : path or Store, optional
        A directory where the learner keeps itself: it is saved before :meth:`partial_fit` returns,
        goes on from what is there when it is made again, and loads its parts when they are needed.
        None, the default, keeps it in memory alone. See :class:`~lifelong.persistence.Store`.

    Attributes
    ----------
    knowledge_ : Knowledge
        All of the following in one frozen value.
    tasks_, encoders_, channels_, memory_, densities_ : mapping
        By task: what is known of it, its encoder, its channel, its stored rows, where its rows lie.
    addresses_ : mapping
        The name under which a task was learnt, and by which its encoder and its randomness go,
        where that is another.
    scaling_ : Scaling or None
        The unit in which rows are measured for task inference.
    seed_ : int
        The number that everything random derives from.

    Examples
    --------
    >>> from lifelong import ForestEncoder, LeafChannel
    >>> learner = Silly(ForestEncoder(n_trees=5), LeafChannel(), random_state=0)
    >>> X = [[0.0], [1.0]] * 5
    >>> y = ["no", "yes"] * 5
    >>> learner.partial_fit(X, y, task="Lyon").predict([[0.9]], task="Lyon")
    array(['yes'], dtype='<U3')

    See Also
    --------
    SillyForest, SillyNetwork : the paper's two learners.

    References
    ----------
    Vogelstein, Dey et al., Simple Lifelong Learning Machines, TPAMI 2025.
    """

    _takes_weights: ClassVar[bool] = True
    knowledge_class: ClassVar[type[Knowledge]] = Knowledge
    encoder: Encoder
    channel: str | Channel

    def __init__(
        self,
        encoder: Encoder,
        channel: Channel,
        *,
        budget: int | None = None,
        keep: Literal["first", "useful"] = "first",
        replay: float = 1.0,
        task_inference: bool = True,
        n_jobs: int | None = None,
        random_state: RandomState = None,
        store: Any = None,
    ) -> None:
        self.encoder = encoder
        self.channel = channel
        self.budget = budget
        self.keep = keep
        self.replay = replay
        self.task_inference = task_inference
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.store = store

    # Parts

    def _parts(self) -> Parts:
        """The parameters, checked."""
        check_count(self.budget, "budget", optional=True)
        check_share(self.replay, "replay")
        check_choice(self.keep, "keep", ["first", "useful"])
        check_jobs(self.n_jobs)
        if not isinstance(self.task_inference, bool):
            raise ParameterError(f"task_inference={self.task_inference!r} is no True or False.")
        return Parts(
            self._encoder(),
            self._channel(),
            self.budget,
            self.keep,
            self.replay,
            self.task_inference,
            self.n_jobs,
        )

    def parts(self) -> Parts:
        """Encoder, channel and settings, checked: what the algorithms take."""
        return self._parts()

    def _encoder(self) -> Encoder:
        return self.encoder

    def _channel(self) -> Channel:
        return choose_channel(self.channel, {})

    def _start(self, seed: int, in_shape: tuple[int, ...], names: NDArray[Any] | None) -> Knowledge:
        self._parts()
        return Knowledge(seed, in_shape, names)

    # Learning

    def _learn(self, known: Knowledge, lesson: Lesson) -> Knowledge:
        parts = self._parts()
        if parts.shared is not None:
            return shared_networks.learn(known, lesson, parts)
        return algorithms.learn(known, lesson, parts)

    def partial_fit_many(self, tasks: Iterable[Task]) -> Self:
        """Learn many new tasks: as if by :meth:`partial_fit` one by one, bit for bit.

        But encoders train in parallel: on ``n_jobs`` threads (forests) or processes (networks), one
        encoder each; or on a cluster (:func:`lifelong.engine`), where each task's channel learns
        from all encoders in parallel, too. All tasks are learnt, or none.

        Parameters
        ----------
        tasks : iterable of Task
            New ones, each with a name of its own; their training rows are learnt.

        Returns
        -------
        self
        """

        def learnt(known: Knowledge | None) -> Knowledge | None:
            lessons = []
            for task in tasks:
                known, rows = self._rows_to_learn(known, task.X_train)
                lessons.append(self._lesson(known, rows, task.y_train, check_task_name(task.name)))
            if known is None or not lessons:
                return known
            _check_new(known, [lesson.task for lesson in lessons])
            parts = self._parts()
            if parts.shared is not None:
                for lesson in lessons:
                    known = shared_networks.learn(known, lesson, parts)
                return known
            independent = many.are_independent(known, len(lessons), parts)
            if current() is not None and self.store is None and independent:
                return many.learn_on_cluster(known, lessons, parts)
            return many.learn_many(known, lessons, parts)

        return self._update(learnt)

    def add_encoder(
        self, encoder: Any, name: TaskName | None = None, *, max_bytes: int = 2**30
    ) -> Self:
        """Take in an encoder that another learner has trained.

        Every task with stored rows learns to use it. It brings no rows and no task. It must read
        rows of the same shape, be of the same kind as this learner's own and not be here yet; it
        counts towards the budget. A learner without tasks may take encoders first.

        Parameters
        ----------
        encoder : path or fitted encoder
            A file by :func:`~lifelong.export_encoder`, or an encoder in memory.
        name : str or int, optional
            What ``encoders_`` calls it: no name of a task. By default made from its checksum.
        max_bytes : int, default 1 GiB
            Larger files are refused unread.

        Returns
        -------
        self
        """

        def with_encoder(known: Knowledge | None) -> Knowledge:
            found = files().read_encoder(encoder, self, known, max_bytes)
            if known is None:
                known = self._begin(found.in_shape)
            parts = self._parts()
            if self.store is not None and not known.tasks:
                raise InputError(
                    "A learner with a store takes encoders once it has learnt a task: "
                    "partial_fit first."
                )
            full = self.budget == len(known.encoders) and not known.tasks
            if parts.places_left(known) == 0 or full:
                raise InputError(
                    f"The budget of {self.budget} encoders is spent. Nothing was added.",
                    see="exchange",
                )
            if name is None:
                wanted = _name_of(found)
            else:
                wanted = check_task_name(name)
            if wanted in {*known.encoders, *known.tasks, *known.addresses.values()}:
                raise InputError(
                    f"There is a task or an encoder {wanted!r} already. Choose another name."
                )
            return algorithms.add_encoder(known, wanted, found.encoder, parts)

        return self._update(with_encoder)

    def _forget(self, known: Knowledge, task: TaskName, *, encoder: bool) -> Knowledge:
        address = known.address(task)
        known = known.without_task(task)
        if not encoder:
            return known
        if known.shared:
            return shared_networks.forget(known, address, self._parts())
        if address in known.encoders:
            return known.without_encoder(address)
        return known

    def _rename(self, known: Knowledge, old: TaskName, new: TaskName) -> Knowledge:
        return known.renamed(old, new)

    def alone(self, task: TaskName) -> "Silly | None":
        """A copy that knows ``task`` alone, with the encoder it trained itself.

        Encoders depend on no other task. None if the task has no encoder of its own, or if tasks
        share networks: then its own has begun at a shared one.

        Parameters
        ----------
        task : str or int
            A name of ``tasks_``.
        """
        everything = self._learnt("knowledge_")
        known = everything.only(self._known_task(everything, task))
        if known is None or everything.shared:
            return None
        single = copy(self)
        single.store = None
        single.knowledge_ = known
        return single

    # Answers

    def _posteriors(self, known: Knowledge, X: Rows, task: TaskName) -> NDArray[np.float64]:
        return algorithms.posteriors(known, X, task, self.n_jobs)

    def _joint_posteriors(
        self, known: Knowledge, X: Rows
    ) -> Mapping[TaskName, NDArray[np.float64]]:
        if set(known.densities) != set(known.tasks):
            raise self._say_which_task()
        return algorithms.joint_posteriors(known, X, self.n_jobs)

    def _novelty(self, known: Knowledge, X: Rows) -> NDArray[np.float64]:
        if not known.densities or known.scaling is None:
            return super()._novelty(known, X)
        return novelty(known.densities, known.scaling.project(X, known.seed))

    def explain(
        self, task: TaskName | None = None, X: Any = None, y: Any = None, *, folds: int = 5
    ) -> Explanation:
        """Which encoders help a task (or every task), and by how much.

        Measured on rows that nothing has learnt from: ``X`` and ``y`` if given, or
        ``X = {task: (X, y), …}`` for several tasks; else the task's stored rows, on which channels
        are learnt anew ``folds`` times, each time without the rows they are measured on. A forest
        of the task's own then answers with those trees that have not seen the row, a third of them,
        so that it looks worse, and other tasks' more helpful, than it is: give rows if you have
        some.

        Parameters
        ----------
        task : str or int, optional
            None, the default: every task.
        X : rows, or a mapping task → (rows, labels), optional
            Rows to measure on. None, the default: stored rows.
        y : labels, optional
            Of the rows, unless X is a mapping.
        folds : int, default 5
            How often channels are learnt anew where stored rows are measured on: more folds leave
            each channel more rows to learn from, and take as much more time.

        Returns
        -------
        Explanation
            Accuracies; prints as a table, and ``plot()`` draws who helps whom.
        """
        return self._ask(lambda known: explain(self, known, task, X, y, folds=folds))

    def sizes(self) -> dict[str, int]:
        """``parameters`` (a count), and bytes of ``encoders``, ``channels`` and stored ``rows``.

        Where tasks' rows lie counts as channels.
        """
        known: Knowledge = self._learnt("knowledge_")
        return known.sizes()

    def plain_models(self, n_tasks: int) -> dict[str, Any]:
        """None: nobody knows the plain counterpart of an encoder that a user brings.

        Parameters
        ----------
        n_tasks : int
            Makes no difference.
        """
        del n_tasks
        return {}

    # What is known

    @property
    def encoders_(self) -> Mapping[TaskName, FittedEncoder]:
        """Encoders by the name under which their task was learnt."""
        return self._learnt("encoders_").encoders  # type: ignore[no-any-return]

    @property
    def channels_(self) -> Mapping[TaskName, FittedChannel]:
        """Channels by task."""
        return self._learnt("channels_").channels  # type: ignore[no-any-return]

    @property
    def memory_(self) -> Mapping[TaskName, StoredRows]:
        """Stored rows by task."""
        return self._learnt("memory_").memory  # type: ignore[no-any-return]

    @property
    def densities_(self) -> Mapping[TaskName, Density]:
        """Where tasks' rows lie."""
        return self._learnt("densities_").densities  # type: ignore[no-any-return]

    @property
    def addresses_(self) -> Mapping[TaskName, TaskName]:
        """The name under which a task was learnt, where that is another."""
        return self._learnt("addresses_").addresses  # type: ignore[no-any-return]

    @property
    def scaling_(self) -> Scaling | None:
        """The unit in which rows are measured for task inference."""
        return self._learnt("scaling_").scaling  # type: ignore[no-any-return]

    # A learner with a store

    def _opened(self) -> OpenStore:
        if "_open_store" not in vars(self):
            self._open_store = files().open_store(self.store)
        return self._open_store

    def _known(self) -> Knowledge | None:
        known: Knowledge | None = super()._known()
        if known is None and self.store is not None:
            known = self._opened().newest(self, None)
            if known is not None:
                self.knowledge_ = known
        return known

    def _update(self, change: Callable[[Any], Any]) -> Self:
        if self.store is None:
            return super()._update(change)
        known: Knowledge | None = super()._known()
        self.knowledge_ = self._opened().updated(self, known, change)
        return self

    def _ask(self, question: Callable[[Any], Answer]) -> Answer:
        while True:
            known = self._known()
            try:
                return super()._ask(question)
            except PersistenceError:
                # Another process has learnt more and removed what only the old state needed: go on
                # from the new one.
                if self.store is None:
                    raise
                newest = self._opened().newest(self, known)
                if newest is known or newest is None:
                    raise
                self.knowledge_ = newest

    def _begin(self, in_shape: tuple[int, ...]) -> Knowledge:
        """What is known before the first task, where an encoder from elsewhere comes first."""
        return self._start(seed_from(self.random_state), in_shape, None)


def files() -> Files:
    """How files are read and written: the package hands it in, as imports go one way."""
    found: Files = provided("files of learners")
    return found


def _check_new(known: Knowledge, names: list[TaskName]) -> None:
    for position, name in enumerate(names):
        if name in known.tasks or name in names[:position]:
            raise InputError(
                f"Task {name!r} is not new or comes twice. Add rows to it with partial_fit."
            )


def _name_of(found: NewEncoder) -> TaskName:
    if found.checksum:
        return f"imported {found.checksum[:8]}"
    return f"imported {type(found.encoder).__name__}"


def choose_channel(channel: str | Channel, known: dict[str, Channel]) -> Channel:
    """A channel by its name, or the one a user brings."""
    if isinstance(channel, str):
        return known[check_choice(channel, "channel", list(known))]
    if not isinstance(channel, Channel):
        names = ", ".join(map(repr, known))
        raise ParameterError(f"channel={channel!r} is no Channel. Choose one of: {names}.")
    return channel
