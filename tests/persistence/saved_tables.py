"""Saved models of tables: one with everything in it, and what becomes of it when a file changes."""

import tracemalloc
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from fuzzing import nothing_else_touched

from lifelong import LifelongClassifier, LifelongRegressor, load
from lifelong.exceptions import LifelongError, PersistenceError


def frame(n: int = 40, seed: int = 0) -> pd.DataFrame:
    """Rows of two sites: numbers, text of few and of many values, a date, holes."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "site": rng.choice(["lyon", "oslo"], n),
            "dose": rng.normal(size=n).round(2),
            "pain": rng.choice(["none", "some", "much"], n),
            "town": [f"town {number % 35}" for number in range(n)],
            "smokes": rng.random(n) < 0.5,
            "visit": [f"2020-01-{1 + day % 28:02d}" for day in range(n)],
        }
    )
    table.loc[::7, "dose"] = np.nan
    table.loc[::5, "pain"] = None
    return table


def targets(table: pd.DataFrame, model: Any) -> np.ndarray:
    """Labels or numbers of rows."""
    numbers = np.nan_to_num(table.dose.to_numpy()) + (table.site == "oslo")
    if isinstance(model, LifelongClassifier):
        return np.where(numbers > 0.3, "yes", "no")
    return np.asarray(numbers)


def classifier(**parameters: Any) -> LifelongClassifier:
    return LifelongClassifier("site", n_estimators=3, random_state=0, **parameters)


def regressor(**parameters: Any) -> LifelongRegressor:
    return LifelongRegressor("site", n_estimators=3, random_state=0, **parameters)


def taught(model: Any) -> Any:
    """The model after two lessons, one of them weighted."""
    first = frame()
    model.fit(first, targets(first, model), sample_weight=np.linspace(0.5, 2, len(first)))
    more = frame(6, seed=1).assign(site="pisa", weight=1.5)
    return model.partial_fit(more, targets(more, model))


def answers(model: Any, table: pd.DataFrame) -> np.ndarray:
    """Probabilities, or numbers with intervals."""
    if isinstance(model, LifelongClassifier):
        return model.predict_proba(table)
    return model.predict(table, interval=0.9)


def same(one: Any, other: Any) -> bool:
    """Whether two models say the same of known and unknown tasks, to the last bit."""
    asked = pd.concat([frame(20, seed=5), frame(5, seed=6).assign(site="rome")])
    return (
        list(one.tasks_) == list(other.tasks_)
        and one.columns_ == other.columns_
        and one.get_params() == other.get_params()
        and np.array_equal(answers(one, asked), answers(other, asked))
    )


def outcome(folder: Path, *, memory: int | None = None, learns: bool = True) -> str:
    """``"refused"`` or ``"loaded"``: then it predicts, and learns (if it is to) or says why not."""
    if memory is not None:
        tracemalloc.start()
    try:
        with nothing_else_touched(folder):
            model = load(folder)
    except PersistenceError:
        return "refused"
    finally:
        if memory is not None:
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            assert peak <= memory, f"loading took {peak} bytes, {memory} allowed"
    asked = frame(9, seed=5)
    more = frame(30, seed=7)
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")  # numbers as odd as the file says
        try:
            found = answers(model, asked)
        except LifelongError:  # its columns may now be of another kind, its task column elsewhere
            return "loaded"
        assert len(found) == 9
        takes_its_time = model.n_estimators > 50 or (model.n_jobs or 1) > 2
        if learns and not takes_its_time:
            try:
                model.partial_fit(more, targets(more, model))
            except LifelongError:
                return "loaded"
            assert len(answers(model, asked)) == 9
    return "loaded"
