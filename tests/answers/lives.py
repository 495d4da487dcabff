"""What happens to a learner: each life is a function that yields the steps at which it is asked."""

import pickle
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from answers.learners import Kind, Setting
from answers.recording import Answers, attempt, explanation, texts
from answers.rows import Lesson, lesson
from lifelong import Store, Task, export_encoder, load, save


@dataclass(frozen=True)
class Step:
    """A moment of a learner's life."""

    name: str
    learner: Any
    closely: bool = False  # whether everything is asked that can be asked
    more: Answers = field(default_factory=dict)


@dataclass(frozen=True)
class World:
    """All that a life needs: the kind of learner, its lessons, and a folder of its own."""

    kind: Kind
    setting: Setting
    weighted: bool
    folder: Path

    def new(self, **more: Any) -> Any:
        """A learner that has learnt nothing."""
        return self.kind.make(**self.setting.given, **more)

    def taught(self) -> Any:
        """A learner of three tasks, to do anything with."""
        return deepcopy(_three_tasks(self.kind, self.setting, self.weighted))

    def lesson(self, name: Any) -> Lesson:
        """Rows of the right shape."""
        return lesson(name, self.kind.shape)

    def teach(self, learner: Any, name: Any, task: Any = None) -> Any:
        """One lesson, with weights if this world has any; its task is called like the lesson."""
        return _teach(learner, self.lesson(name), name if task is None else task, self.weighted)

    def reloaded(self, learner: Any) -> Any:
        """The learner, saved and loaded again."""
        save(learner, self.folder / "saved")
        return load(self.folder / "saved", **self.kind.loaded_with())

    def encoder_from_elsewhere(self) -> Any:
        """An encoder in memory that another learner has trained."""
        return _learner_elsewhere(self.kind).encoders_["elsewhere"]

    def exported(self) -> Path:
        """The same encoder in a file."""
        file = self.folder / "elsewhere.encoder"
        export_encoder(_learner_elsewhere(self.kind), "elsewhere", file)
        return file

    def tasks(self, *names: Any) -> list[Task]:
        """Lessons as tasks, whose rows to be tested on are of no interest."""
        lessons = {name: self.lesson(name) for name in names}
        return [Task(name, one.X, one.y, one.X, one.y) for name, one in lessons.items()]


Life = Callable[[World], Iterator[Step]]


def _teach(learner: Any, one: Lesson, task: Any, weighted: bool) -> Any:
    if weighted:
        return learner.partial_fit(one.X, one.y, task=task, sample_weight=one.weights)
    return learner.partial_fit(one.X, one.y, task=task)


@lru_cache(maxsize=1)
def _three_tasks(kind: Kind, setting: Setting, weighted: bool) -> Any:
    learner = kind.make(**setting.given)
    for name in ("words", 7, "mixed"):
        _teach(learner, lesson(name, kind.shape), name, weighted)
    return learner


@lru_cache(maxsize=1)
def _learner_elsewhere(kind: Kind) -> Any:
    one = lesson("elsewhere", kind.shape)
    return kind.make().partial_fit(one.X, one.y, task="elsewhere")


def _said(*outcomes: str) -> Answers:
    return {"said": texts(outcomes)}


# Lives of all learners


def three_tasks(world: World) -> Iterator[Step]:
    """Nothing but three tasks."""
    yield Step("after three tasks", world.taught(), closely=True)


def more_rows(world: World) -> Iterator[Step]:
    """A known task gets more rows and a new class; then comes another task."""
    learner = world.taught()
    world.teach(learner, "more words", task="words")
    yield Step("after more rows", learner)
    world.teach(learner, "flags")
    yield Step("after another task", learner)


def declared_classes(world: World) -> Iterator[Step]:
    """A task says which classes it has before it shows them all."""
    learner = world.taught()
    flags = world.lesson("flags")
    learner.partial_fit(flags.X, flags.y, task="flags", classes=[True, False, "perhaps"])
    yield Step("after the task", learner)
    more = world.lesson("more words")
    learner.partial_fit(more.X[:7], ["perhaps"] * 7, task="flags", classes=["never"])
    yield Step("after the class has come", learner)


def rename(world: World) -> Iterator[Step]:
    """A task gets another name, and another task gets its old one."""
    learner = world.taught()
    learner.rename("words", "Wörter")
    yield Step("after the new name", learner)
    world.teach(learner, "words anew", task="words")
    yield Step("after a task of the old name", learner)
    world.teach(learner, "more words", task="Wörter")
    learner.rename("words", np.int64(8))
    learner.rename("Wörter", "words")
    yield Step("after more rows and names", learner)


def forget_task(world: World) -> Iterator[Step]:
    """A task is forgotten and its encoder stays; the task comes again."""
    learner = world.taught()
    said = attempt(lambda: learner.forget(7))
    yield Step("after forgetting", learner, more=_said(said))
    world.teach(learner, "flags")
    world.teach(learner, "more of 7", task=7)
    yield Step("after the task has come again", learner)


def saved(world: World) -> Iterator[Step]:
    """Saved, loaded, taught, and all of that once more."""
    learner = world.taught()
    said = attempt(lambda: save(learner, world.folder / "saved"))
    if said != "done":
        yield Step("after saving", learner, more=_said(said))
        return
    learner = world.reloaded(learner)
    yield Step("after loading", learner)
    world.teach(learner, "flags")
    world.teach(learner, "more words", task="words")
    yield Step("after going on", learner)
    learner = world.reloaded(learner)
    yield Step("after loading again", learner)


def fit(world: World) -> Iterator[Step]:
    """scikit-learn's contract: everything is forgotten for one task."""
    learner = world.taught()
    one = world.lesson("mixed")
    learner.fit(one.X, one.y)
    labels = texts(learner.classes_)
    yield Step("after fit", learner, more={"labels": texts(learner.predict(one.X)), "of": labels})
    more = world.lesson("more mixed")
    learner.partial_fit(more.X, more.y)
    yield Step("after more rows of the only task", learner)


def tiny_tasks(world: World) -> Iterator[Step]:
    """Tasks of hardly any rows."""
    learner = world.new()
    few = world.lesson("few")
    learner.partial_fit(few.X[:2], few.y[:2], task="two rows")
    world.teach(learner, "one class")
    world.teach(learner, "few")
    yield Step("after three tiny tasks", learner)
    world.teach(learner, "words")
    learner.partial_fit(few.X[2:], few.y[2:], task="two rows")
    yield Step("after a task and more rows", learner)


def one_row(world: World) -> Iterator[Step]:
    """A task of a single row, and another row for it."""
    learner = world.new()
    few = world.lesson("few")
    learner.partial_fit(few.X[:1], few.y[:1], task="one row")
    world.teach(learner, "words")
    yield Step("after a task", learner)
    learner.partial_fit(few.X[1:2], few.y[1:2], task="one row")
    yield Step("after another row", learner)


def refused(world: World) -> Iterator[Step]:
    """What is refused changes nothing."""
    learner = world.taught()
    words = world.lesson("words")
    spoilt = words.X.copy()
    spoilt[3] = np.nan
    said = [
        attempt(lambda: learner.partial_fit(spoilt, words.y, task="spoilt")),
        attempt(lambda: learner.partial_fit(words.X[:, :2], words.y, task="narrow")),
        attempt(lambda: learner.partial_fit(words.X, words.y[:-1], task="words")),
        attempt(lambda: learner.partial_fit(words.X, words.y, sample_weight=-words.weights)),
        attempt(lambda: learner.partial_fit(words.X, words.y, task=True)),
        attempt(lambda: learner.rename("words", "mixed")),
        attempt(lambda: learner.rename("nobody", "somebody")),
        attempt(lambda: learner.forget("nobody")),
        attempt(lambda: learner.forget(None)),
        attempt(lambda: world.new().predict_proba(words.X)),
        attempt(lambda: world.new().novelty(words.X)),
        attempt(lambda: learner.predict_proba(words.X)),
        attempt(lambda: learner.predict(words.X, priors={"ant": 1})),
        attempt(lambda: learner.predict_proba(words.X, task="words", priors={"ant": 1})),
    ]
    yield Step("after all that", learner, more=_said(*said))


def refused_weights(world: World) -> Iterator[Step]:
    """Sample weights for a learner that takes none."""
    learner = world.taught()
    one = world.lesson("flags")
    said = attempt(lambda: _teach(learner, one, "flags", weighted=True))
    yield Step("after the attempt", learner, more=_said(said))


def plain_models(world: World) -> Iterator[Step]:
    """The models that a learner is compared with."""
    learner = world.taught()
    one = world.lesson("words")
    found = {}
    for name, model in learner.plain_models(3).items():
        model.fit(one.X, one.y)
        found[f"{name}, labels"] = texts(model.predict(one.X[:9]))
        if hasattr(model, "predict_proba"):
            found[f"{name}, proba"] = np.asarray(model.predict_proba(one.X[:9]))
    yield Step("with plain models", learner, more=found)


# Lives of learners with encoders


def forget_encoder(world: World) -> Iterator[Step]:
    """A task goes with its encoder; others come, and a task of the same name."""
    learner = world.taught()
    learner.forget("words", encoder=True)
    yield Step("after forgetting", learner)
    world.teach(learner, "flags")
    world.teach(learner, "words anew", task="words")
    yield Step("after two more tasks", learner)


def forget_all(world: World) -> Iterator[Step]:
    """Every task goes, and the encoders of two stay for those to come."""
    learner = world.taught()
    learner.forget("words")
    learner.forget(7, encoder=True)
    learner.forget("mixed")
    world.teach(learner, "flags")
    world.teach(learner, "words")
    yield Step("after two more tasks", learner)


def other_weights(world: World) -> Iterator[Step]:
    """Rows with weights after rows without, or the other way round."""
    learner = world.taught()
    _teach(learner, world.lesson("more words"), "words", not world.weighted)
    _teach(learner, world.lesson("flags"), "flags", not world.weighted)
    yield Step("after such rows", learner)
    _teach(learner, world.lesson("more mixed"), "mixed", world.weighted)
    _teach(learner, world.lesson("more of 7"), 7, not world.weighted)
    learner = world.reloaded(learner)
    yield Step("after both, saved and loaded", learner, closely=True)


def add_encoder(world: World) -> Iterator[Step]:
    """An encoder of another learner, from memory."""
    learner = world.taught()
    guest = world.encoder_from_elsewhere()
    said = attempt(lambda: learner.add_encoder(guest, name="guest"))
    again = attempt(lambda: learner.add_encoder(guest, name="guest again"))
    taken = attempt(lambda: learner.add_encoder(guest, name="words"))
    yield Step("after the encoder", learner, more=_said(said, again, taken))
    world.teach(learner, "more words", task="words")
    world.teach(learner, "flags")
    yield Step("after more rows and a task", learner)


def add_encoder_file(world: World) -> Iterator[Step]:
    """An encoder of another learner, from a file; what is known by then is saved and loaded."""
    learner = world.taught()
    file = world.exported()
    said = attempt(lambda: learner.add_encoder(file, name="guest"))
    yield Step("after the encoder", learner, more=_said(said))
    learner = world.reloaded(learner)
    world.teach(learner, "flags")
    learner.rename(7, "seven")
    newest = list(learner.encoders_)[-1]
    export_encoder(learner, newest, world.folder / "newest.encoder")
    other = world.new().add_encoder(world.folder / "newest.encoder", name="traveller")
    world.teach(other, "words anew")
    yield Step("after loading and a task", learner)
    yield Step("the encoder goes on to another learner", other)


def add_last_encoder(world: World) -> Iterator[Step]:
    """An encoder for which there is just room: then all rows go."""
    learner = world.kind.make(budget=3)
    world.teach(learner, "words")
    world.teach(learner, 7)
    learner.add_encoder(world.encoder_from_elsewhere(), name="guest")
    yield Step("after the encoder", learner)
    world.teach(learner, "flags")
    world.teach(learner, "more words", task="words")
    yield Step("after a task and more rows", learner)


def encoders_first(world: World) -> Iterator[Step]:
    """A learner that has an encoder before it has a task."""
    learner = world.new()
    learner.add_encoder(world.encoder_from_elsewhere(), name="guest")
    world.teach(learner, "words")
    world.teach(learner, 7)
    yield Step("after two tasks", learner, closely=True)


def unnamed_encoder(world: World) -> Iterator[Step]:
    """A file's encoder that nobody has given a name; it may be called anything."""
    learner = world.taught()
    learner.add_encoder(world.exported())
    yield Step("after the encoder", learner.alone("words"), more=_without_names(learner, world))


def _without_names(learner: Any, world: World) -> Answers:
    rows = world.lesson("flags").X[:9]
    answers = {task: learner.predict_proba(rows, task=task) for task in learner.tasks_}
    return {f"with all encoders, proba of {task!r}": answer for task, answer in answers.items()}


def many(world: World) -> Iterator[Step]:
    """Several tasks at once."""
    learner = world.new()
    world.teach(learner, "words")
    learner.partial_fit_many(world.tasks(7, "mixed", "flags"))
    yield Step("after three at once", learner)
    said = attempt(lambda: learner.partial_fit_many(world.tasks("elsewhere", 7)))
    learner.partial_fit_many([])
    learner.partial_fit_many(world.tasks("elsewhere"))
    yield Step("after one more", learner, more=_said(said))


def store(world: World) -> Iterator[Step]:
    """Two learners go on in turn in one directory."""
    folder = world.folder / "store"
    first = world.new(store=folder)
    world.teach(first, "words")
    second = world.new(store=folder)
    world.teach(second, 7)
    world.teach(first, "mixed")
    yield Step("after three tasks, the first", first)
    world.teach(second, "more words", task="words")
    yield Step("after more rows, the second", second)
    guest = world.encoder_from_elsewhere()
    said = attempt(lambda: first.add_encoder(guest, name="guest"))
    second.rename("words", "Wörter")
    first.forget(7, encoder=True)
    world.teach(second, "flags")
    yield Step("after changes, the second", second, more=_said(said))
    yield Step("after changes, a third", world.new(store=folder))
    yield Step("after changes, loaded", load(folder, **world.kind.loaded_with()))


def store_asked_all(world: World) -> Iterator[Step]:
    """Whatever can be asked, of a learner that finds everything in its store."""
    folder = world.folder / "store"
    writer = world.new(store=folder)
    said = attempt(lambda: writer.add_encoder(world.encoder_from_elsewhere(), name="guest"))
    world.teach(writer, "words")
    world.teach(writer, "words anew")
    reader = world.new(store=Store(folder, cache_bytes=1000))
    yield Step("after two tasks, a reader", reader, closely=True, more=_said(said))
    yield Step("after two tasks, a copy", pickle.loads(pickle.dumps(writer)))  # noqa: S301


def store_changes_meanwhile(world: World) -> Iterator[Step]:
    """A reader whose files somebody else has removed goes on from the newest state."""
    folder = world.folder / "store"
    writer = world.new(store=folder)
    world.teach(writer, "words")
    world.teach(writer, 7)
    reader = world.new(store=Store(folder, cache_bytes=1))
    yield Step("before, the reader", reader)
    world.teach(writer, "more words", task="words")
    writer.forget(7, encoder=True)
    first = reader.predict_proba(world.lesson("flags").X[:9], task="words")
    yield Step("after, the reader", reader, more={"first answer": first})
    world.teach(reader, "flags")
    world.teach(writer, "mixed")
    yield Step("after, the writer", writer)


def store_of_many(world: World) -> Iterator[Step]:
    """Several tasks at once, in a store."""
    folder = world.folder / "store"
    learner = world.new(store=folder)
    learner.partial_fit_many(world.tasks("words", 7, "mixed"))
    yield Step("after three at once", learner)
    reader = world.new(store=folder)
    said = attempt(lambda: reader.partial_fit(np.full((2, 1), 1.0), [1, 2], task="narrow"))
    yield Step("a reader", reader, more=_said(said))


def alone_goes_on(world: World) -> Iterator[Step]:
    """What a learner would be without other tasks learns like any other."""
    learner = world.taught()
    single = learner.alone(7)
    if single is None:
        yield Step("there is none", learner)
        return
    world.teach(single, "flags")
    world.teach(single, "more of 7", task=7)
    yield Step("after another task", single)
    yield Step("the learner itself", learner)


def whole_life(world: World) -> Iterator[Step]:
    """Everything, one after another."""
    learner = world.teach(world.new(), "words")
    learner = world.reloaded(learner)
    world.teach(learner, 7)
    world.teach(learner, "more words", task="words")
    learner.rename("words", "Wörter")
    guest = world.encoder_from_elsewhere()
    said = attempt(lambda: learner.add_encoder(guest, name="guest"))
    learner = world.reloaded(learner)
    world.teach(learner, "mixed")
    world.teach(learner, "more of 7", task=7)
    yield Step("in the middle", learner, more=_said(said))
    learner.forget(7, encoder=True)
    world.teach(learner, "words anew", task="words")
    learner = world.reloaded(learner)
    world.teach(learner, "flags")
    world.teach(learner, "more mixed", task="mixed")
    learner.forget("Wörter")
    yield Step("at the end", learner)


# Lives for a few


def changes_asked_all(world: World) -> Iterator[Step]:
    """Whatever can be asked, after many changes."""
    learner = world.taught()
    learner.rename("words", "Wörter")
    attempt(lambda: learner.add_encoder(world.encoder_from_elsewhere(), name="guest"))
    world.teach(learner, "words anew", task="words")
    learner.forget(7)
    world.teach(learner, "more mixed", task="mixed")
    yield Step("after many changes", learner, closely=True)


def frames(world: World) -> Iterator[Step]:
    """Rows with names of columns, which have to stay the same."""
    import pandas

    names = [f"column {number}" for number in range(world.kind.shape[0])]
    learner = world.new()
    for name in ("words", 7):
        one = world.lesson(name)
        learner.partial_fit(pandas.DataFrame(one.X, columns=names), pandas.Series(one.y), task=name)
    one = world.lesson("words")
    renamed = pandas.DataFrame(one.X, columns=names[::-1])
    said = attempt(lambda: learner.partial_fit(renamed, one.y, task="words"))
    proba = learner.predict_proba(pandas.DataFrame(one.X, columns=names), task="words")
    found = {"said": texts([said]), "proba": proba, "columns": texts(learner.feature_names_in_)}
    yield Step("after two tasks", deepcopy(learner).forget("words"), more=found)


def explained_by_rows(world: World) -> Iterator[Step]:
    """Who helps whom, judged by rows that nobody has learnt from, for several tasks."""
    learner = world.taught()
    words = world.lesson("more words")
    mixed = world.lesson("more mixed")
    given = {"words": (words.X, words.y), "mixed": (mixed.X, mixed.y)}
    found = explanation(lambda: learner.explain(X=given))
    one = explanation(lambda: learner.explain("mixed", folds=3))
    found |= {f"by stored rows, {name}": answer for name, answer in one.items()}
    yield Step("explained", learner, more=found)


def large_task(world: World) -> Iterator[Step]:
    """More rows than are looked at in one piece, or kept."""
    learner = world.new()
    world.teach(learner, "words")
    world.teach(learner, "large")
    yield Step("after two tasks", learner)


def onnx(world: World) -> Iterator[Step]:
    """An encoder for other programs."""
    import onnxruntime

    learner = world.taught()
    export_encoder(learner, "words", world.folder / "words.onnx")
    session = onnxruntime.InferenceSession(str(world.folder / "words.onnx"))
    rows = world.lesson("flags").X[:9]
    (given,) = session.get_inputs()
    (representation,) = session.run(None, {given.name: rows})
    yield Step("after the export", learner, more={"representation": representation})


# Learners that one checkout saves and another one loads


def save_changed(world: World) -> None:
    """A learner that much has happened to, saved to the world's folder under its kind's name."""
    learner = world.taught()
    world.teach(learner, "more words", task="words")
    learner.rename("words", "Wörter")
    if hasattr(learner, "encoders_"):
        guest = world.encoder_from_elsewhere()
        attempt(lambda: learner.add_encoder(guest, name="guest"))
    save(learner, world.folder / world.kind.name)


def reading(folder: Path) -> Life:
    """A life that begins with the learner that :func:`save_changed` has left there."""

    def read(world: World) -> Iterator[Step]:
        learner = load(folder / world.kind.name, **world.kind.loaded_with())
        yield Step("after loading", learner, closely=True)
        world.teach(learner, "flags")
        world.teach(learner, "more mixed", task="mixed")
        yield Step("after going on", learner)
        yield Step("after saving and loading", world.reloaded(learner))

    return read
