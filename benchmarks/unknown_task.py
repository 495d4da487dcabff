"""How to find out which task a row is from: four ways, measured on rows held back from the training
rows.

    python -m benchmarks.unknown_task spoken-digit silly-f
    python -m benchmarks.unknown_task cifar-10x10 silly-n --channel ridge

``task``: share of rows given to their task; ``both``: task and label right; ``of 10``: share of
batches of ten rows of one task given to it. Then novelty: how many known rows, and how many of a
task that was left out, are above 0.95.
"""

import argparse

import numpy as np
from sklearn.metrics import roc_auc_score

from lifelong import Silly
from lifelong.experiments import make_learner
from lifelong.learners.algorithms import represent
from lifelong.learners.task_inference import TEMPER, _by_task, _gaussian, _of_view, _ratios
from lifelong.nets import Recipe
from lifelong.tasks import Task
from lifelong.tasks.datasets import load

SHORT = {"width": 0.5, "recipe": Recipe(epochs=10, batch_size=32, lr=1e-3)}


def held_back(task: Task, share: float = 0.25) -> Task:
    """A task whose test rows are training rows held back: no test row is looked at."""
    return Task.from_arrays(task.name, task.X_train, task.y_train, test_share=share, random_state=0)


def scores(learner: Silly, X: np.ndarray) -> dict[str, np.ndarray]:
    """log P(t | x), up to a term per row, by each method: (n, T)."""
    shown = represent(learner.encoders_, X, None)
    densities = {task: learner.densities_[task] for task in learner.tasks_}
    known = list(densities.values())
    rows = learner.scaling_.project(X, learner.seed_)
    tables = {
        task: getattr(learner.channels_[task], "tables", density.tables())
        for task, density in densities.items()
    }
    views = [_of_view(densities, tables, name, Z, learner.seed_) for name, Z in shown.items()]
    of_rows = _ratios(_gaussian([density.rows for density in known], rows), known)
    of_views = np.mean([_ratios(view, known) for view in views if view is not None], axis=0)
    sure = np.log(
        np.stack(
            [learner.channels_[task].predict_proba(shown).max(axis=1) for task in densities], axis=1
        )
    )
    return {
        "confidence of channels": sure,
        "density of rows": _by_task(TEMPER * of_rows, known),
        "density of representations": _by_task(TEMPER * of_views, known),
        "both densities": _by_task(TEMPER * (of_rows + of_views) / 2, known),
        "both densities × confidence": _by_task(TEMPER * (of_rows + of_views) / 2, known) + sure,
    }


def compare(learner: Silly, tasks: list[Task]) -> None:
    rng = np.random.default_rng(0)
    counts: dict[str, list[np.ndarray]] = {}
    for t, task in enumerate(tasks):
        labels = learner.predict(task.X_test, task=task.name) == task.y_test
        for method, found in scores(learner, task.X_test).items():
            right = found.argmax(axis=1) == t
            drawn = rng.integers(len(right), size=(50, 10))
            together = found[drawn].sum(axis=1).argmax(axis=1) == t
            counts.setdefault(method, []).append(
                np.array([right.mean(), (right & labels).mean(), together.mean()])
            )
    print(f"{'method':<30}{'task':>8}{'both':>8}{'of 10':>8}")
    for method, each in counts.items():
        print(f"{method:<30}" + "".join(f"{value:>8.3f}" for value in np.mean(each, axis=0)))


def novelty(make, tasks: list[Task]) -> None:
    """Each task in turn is left out.

    Densities of rows do not depend on encoders, so one tree per task will do.
    """
    known = []
    new = []
    areas = []
    for left_out in tasks:
        learner = make()
        for task in tasks:
            if task is not left_out:
                learner.partial_fit(task.X_train, task.y_train, task=task.name)
        old = np.concatenate(
            [learner.novelty(task.X_test) for task in tasks if task is not left_out]
        )
        found = learner.novelty(left_out.X_test)
        areas.append(
            roc_auc_score(np.repeat([0, 1], [len(old), len(found)]), np.concatenate([old, found]))
        )
        known.append(old)
        new.append(found)
    for name, values in (
        ("known tasks", np.concatenate(known)),
        ("a new task", np.concatenate(new)),
    ):
        shares = "  ".join(
            f"> {level}: {(values > level).mean():.3f}" for level in (0.5, 0.9, 0.95, 0.99)
        )
        print(f"novelty of {name:<12} {shares}")
    print(f"area under the ROC curve {np.mean(areas):.3f}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("dataset")
    parser.add_argument("learner", choices=["silly-f", "silly-n"])
    parser.add_argument("--channel")
    parser.add_argument("--seed", type=int, default=100)
    chosen = parser.parse_args()
    settings = {}
    if chosen.learner != "silly-f":
        settings |= SHORT
    if chosen.channel:
        settings["channel"] = chosen.channel
    tasks = [held_back(task) for task in load(chosen.dataset, random_state=chosen.seed)]
    learner = make_learner(chosen.learner, 0, **settings)
    for task in tasks:
        learner.partial_fit(task.X_train, task.y_train, task=task.name)
    known = np.mean([learner.score(task.X_test, task.y_test, task=task.name) for task in tasks])
    print(f"{chosen.dataset}, {learner}: accuracy with the task known {known:.3f}")
    compare(learner, tasks)
    size = sum(density.nbytes for density in learner.densities_.values())
    print(f"densities: {size / 1000:.0f} kB of {sum(learner.sizes().values()) / 1e6:.1f} MB")
    if chosen.learner == "silly-f":
        novelty(lambda: make_learner("silly-f", 0, n_estimators=1), tasks)


if __name__ == "__main__":
    main()
