"""What a learner is asked, and its answers as arrays."""

from collections.abc import Callable
from typing import Any

import numpy as np

from answers.rows import Lesson
from lifelong import LifelongError

Answers = dict[str, np.ndarray]


def answers_of(learner: Any, rows: np.ndarray) -> Answers:
    """What every learner is asked after every step."""
    tasks = list(learner.tasks_)
    found: Answers = {}
    found["tasks"] = texts(tasks)
    if hasattr(learner, "encoders_"):
        found["encoders"] = texts(learner.encoders_)
    found["classes"] = np.array([_described(learner.classes_of(task)) for task in tasks])
    found["sizes"] = np.array([f"{name} {size}" for name, size in learner.sizes().items()])
    for task in tasks:
        found[f"proba of {task!r}"] = learner.predict_proba(rows, task=task)
    found["task proba"] = asked(lambda: learner.predict_task_proba(rows))
    found["novelty"] = asked(lambda: learner.novelty(rows))
    return found


def close_look(learner: Any, rows: np.ndarray, judging: Lesson) -> Answers:
    """Whatever else can be asked."""
    tasks = list(learner.tasks_)
    found: Answers = {}
    for task in tasks:
        found[f"proba of {task!r} with priors"] = with_priors(learner, rows, task)
        found[f"labels of {task!r}"] = texts(learner.predict(rows, task=task))
        found |= _named(f"{task!r} alone", _alone(learner, task, rows))
    unsure = asked_labels(lambda: learner.predict(rows, task=tasks[0], abstain_below=0.6))
    found["labels, or none where unsure"] = unsure
    found["labels without a task"] = asked_labels(lambda: learner.predict(rows))
    found["task of each row"] = asked_labels(lambda: learner.predict_task(rows))
    together = asked(lambda: learner.predict_task_proba(rows, same_task=True))
    found["task proba, all of one"] = together
    same = {"same_task": True, "abstain_below": 0.5, "abstain_label": "?"}
    found["labels without a task, all of one"] = asked_labels(lambda: learner.predict(rows, **same))
    found["score"] = np.array(learner.score(judging.X, judging.y, task=tasks[0]))
    if hasattr(learner, "explain"):
        found |= _named("explained", explanation(lambda: learner.explain(folds=2)))
        by_rows = explanation(lambda: learner.explain(tasks[0], judging.X, judging.y))
        found |= _named("explained by rows", by_rows)
    return found


def with_priors(learner: Any, rows: np.ndarray, task: Any) -> np.ndarray:
    """Posteriors where the last class is the most frequent one, and the first never comes."""
    classes = learner.classes_of(task).tolist()
    shares = np.arange(len(classes)) if len(classes) > 1 else np.ones(1)
    priors = {label: float(share) for label, share in zip(classes, shares, strict=True)}
    return learner.predict_proba(rows, task=task, priors=priors)


def _alone(learner: Any, task: Any, rows: np.ndarray) -> Answers:
    """The learner as it would be without all other tasks, if it can say so."""
    single = learner.alone(task)
    if single is None:
        return {"is": texts([None])}
    found = answers_of(single, rows)
    found["labels"] = texts(single.predict(rows))
    return found


def explanation(explain: Callable[[], Any]) -> Answers:
    """Who helps whom: all numbers, and the table as it is printed."""
    try:
        found = explain()
    except LifelongError as error:
        return {"is": refusal(error)}
    numbers = ["accuracy", "before", "alone", "beside", "without", "rows", "helps", "needed"]
    answers = {name: np.asarray(getattr(found, name)) for name in numbers}
    answers["tasks"] = texts(found.tasks)
    answers["encoders"] = texts(found.encoders)
    answers["table"] = np.array(str(found).splitlines())
    return answers


def is_inferred(question: str) -> bool:
    """Whether the answer is from densities of rows: linear algebra, whatever the learner."""
    return "task proba" in question or "novelty" in question


def asked(ask: Callable[[], Any]) -> np.ndarray:
    """The answer, or the name of the error with which lifelong refuses to give one."""
    try:
        return np.asarray(ask())
    except LifelongError as error:
        return refusal(error)


def asked_labels(ask: Callable[[], Any]) -> np.ndarray:
    """The same for labels, which may be of any kind."""
    try:
        return texts(ask())
    except LifelongError as error:
        return refusal(error)


def refusal(error: LifelongError) -> np.ndarray:
    """An error as an answer: its class, because messages may get better."""
    return np.array([f"refused: {type(error).__name__}"])


def attempt(action: Callable[[], Any]) -> str:
    """What comes of an action that may be refused."""
    try:
        action()
    except LifelongError as error:
        return f"refused: {type(error).__name__}"
    return "done"


def texts(values: Any) -> np.ndarray:
    """Things of any kind as text."""
    listed = values.tolist() if isinstance(values, np.ndarray) else list(values)
    return np.array([repr(one) for one in listed], dtype=str)


def _described(classes: np.ndarray) -> str:
    return f"{classes.dtype.str} {classes.tolist()!r}"


def _named(prefix: str, answers: Answers) -> Answers:
    return {f"{prefix}, {name}": answer for name, answer in answers.items()}
