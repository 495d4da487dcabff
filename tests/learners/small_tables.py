"""A small table of related tasks: numbers, text, a date, holes; and quick models of it."""

from typing import Any

import numpy as np
import pandas as pd

from lifelong import LifelongClassifier, LifelongRegressor

SITES = ("lyon", "oslo", "pisa")


def table(n: int = 36, sites: tuple[Any, ...] = SITES, seed: int = 0) -> pd.DataFrame:
    """``n`` rows of each site, in random order, with targets ``ill`` and ``days``."""
    rng = np.random.default_rng(seed)
    site = rng.permutation(np.repeat(np.array(sites, dtype=object), n))
    total = len(site)
    dose = rng.normal(size=total)
    pain = rng.choice(["none", "some", "much"], total)
    frame = pd.DataFrame(
        {
            "site": site,
            "dose": np.where(rng.random(total) < 0.1, np.nan, dose),
            "pain": np.where(rng.random(total) < 0.1, None, pain),
            "smokes": rng.random(total) < 0.4,
            "visit": [f"2020-{1 + day % 12:02d}-01" for day in range(total)],
        }
    )
    shift = {name: place for place, name in enumerate(sites)}
    days = 3 * dose + 2 * (pain == "much") + np.array([shift[name] for name in site])
    frame["days"] = days + 0.5 * rng.normal(size=total)
    frame["ill"] = np.where(days + 0.5 * rng.normal(size=total) > 1, "yes", "no")
    return frame


def inputs(frame: pd.DataFrame) -> pd.DataFrame:
    """What models read, the site included."""
    return frame.drop(columns=["days", "ill"])


def classifier(**parameters: Any) -> LifelongClassifier:
    given = {"task_column": "site", "n_estimators": 4, "random_state": 0, **parameters}
    return LifelongClassifier(**given)


def regressor(**parameters: Any) -> LifelongRegressor:
    given = {"task_column": "site", "n_estimators": 4, "random_state": 0, **parameters}
    return LifelongRegressor(**given)


MODELS = {"classifier": (classifier, "ill"), "regressor": (regressor, "days")}


def answers(model: Any, frame: pd.DataFrame, **task: Any) -> np.ndarray:
    """Probabilities, or numbers with their intervals."""
    if isinstance(model, LifelongClassifier):
        return model.predict_proba(frame, **task)
    return model.predict(frame, interval=0.9, **task)


def same(one: Any, other: Any, frame: pd.DataFrame) -> bool:
    """Whether two models know the same and say the same, to the last bit."""
    return (
        list(one.tasks_) == list(other.tasks_)
        and one.columns_ == other.columns_
        and np.array_equal(answers(one, frame), answers(other, frame))
    )
