"""Which columns of a table matter for a task."""

import numpy as np
import pandas as pd
import pytest

from lifelong import LifelongClassifier, LifelongRegressor
from lifelong.exceptions import InputError, ParameterError, UnknownTaskError


def sites(n=80, seed=0):
    """In Lyon the dose decides, in Nice the day; ``unit`` says nothing, ``sex`` is noise."""
    rng = np.random.default_rng(seed)
    days = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 300, n), unit="D")
    frame = pd.DataFrame(
        {
            "site": np.repeat(["Lyon", "Nice"], n // 2),
            "dose": rng.normal(size=n),
            "sex": rng.choice(["f", "m"], n),
            "day": days,
            "unit": 1.0,
        }
    )
    frame.loc[::11, "dose"] = np.nan
    late = days > pd.Timestamp("2024-06-01")
    score = np.where(frame.site == "Lyon", frame.dose.fillna(0), np.where(late, 1.0, -1.0))
    return frame, score


def fitted(**settings):
    frame, score = sites()
    model = LifelongClassifier("site", n_estimators=20, random_state=0, **settings)
    return model.fit(frame, np.where(score > 0, "yes", "no"))


def test_the_column_that_decides_matters_most_in_each_task():
    explained = fitted().explain()
    assert next(iter(explained.of_task("Lyon"))) == "dose"
    assert next(iter(explained.of_task("Nice"))) == "day"
    at = {name: place for place, name in enumerate(explained.columns)}
    assert explained.importance[0, at["dose"]] > 5 * explained.spread[0, at["dose"]]
    np.testing.assert_array_equal(explained.importance[:, at["unit"]], 0)
    np.testing.assert_array_equal(explained.rows, [40, 40])


def test_rows_that_were_kept_back_can_be_given():
    model = fitted()
    frame, score = sites(seed=1)
    explained = model.explain(frame, np.where(score > 0, "yes", "no"))
    assert explained.tasks == ("Lyon", "Nice")
    assert next(iter(explained.of_task("Nice"))) == "day"
    only = frame.site == "Nice"
    nice = model.explain(frame[only], np.where(score[only] > 0, "yes", "no"))
    assert nice.tasks == ("Nice",)
    np.testing.assert_array_equal(nice.importance[0], explained.importance[1])


def test_importance_is_the_loss_added_by_shuffled_values():
    model = fitted()
    frame, score = sites(seed=1)
    frame = frame[frame.site == "Lyon"]
    y = np.where(score[: len(frame)] > 0, "yes", "no")

    def loss(rows):
        of_truth = model.predict_proba(rows)[np.arange(len(y)), (y == "yes").astype(int)]
        return -np.log(of_truth).mean()

    rng = np.random.default_rng(0)
    added = [loss(frame.assign(dose=rng.permutation(frame.dose))) - loss(frame) for _ in range(30)]
    explained = model.explain(frame, y, repetitions=30)
    assert explained.of_task("Lyon")["dose"] == pytest.approx(np.mean(added), rel=0.15)
    assert explained.spread[0, 0] == pytest.approx(np.std(added), rel=0.5)


def test_losses_of_opinions_stand_beside():
    model = fitted()
    explained = model.explain(task="Nice")
    assert explained.tasks == ("Nice",)
    assert explained.opinions == ("own forest", "shared forest", "boosted", "linear model")
    mix = model.knowledge_.channels["Nice"]
    np.testing.assert_array_equal(explained.opinion_losses[0], mix.losses[:4])
    assert explained.mix_loss[0] == mix.losses[4]
    np.testing.assert_array_equal(explained.weights[0], mix.weights)
    assert fitted(shared=False).explain(task="Nice").opinions == ("own forest",)


def test_explaining_changes_nothing_and_is_the_same_each_time():
    model = fitted()
    known = model.knowledge_
    first = model.explain()
    assert model.knowledge_ is known
    np.testing.assert_array_equal(first.importance, model.explain().importance)


def test_an_explanation_is_printed_as_two_tables():
    text = str(fitted().explain(repetitions=2))
    assert "log loss on held-out rows" in text
    assert "own forest" in text
    assert "Lyon (40 rows)" in text
    lines = text.splitlines()
    first_column = lines[lines.index("Lyon (40 rows)") + 1]
    assert first_column.split()[0] == "dose"
    assert "±" in first_column
    assert len({len(line) for line in lines[1:4]}) == 1


def test_columns_matter_for_numbers_by_squared_error():
    frame, score = sites()
    model = LifelongRegressor("site", n_estimators=20, random_state=0).fit(frame, score)
    explained = model.explain()
    assert explained.loss == "squared error"
    assert next(iter(explained.of_task("Lyon"))) == "dose"
    assert next(iter(explained.of_task("Nice"))) == "day"


def test_one_task_of_an_array_is_explained():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    model = LifelongClassifier(n_estimators=10, random_state=0).fit(X, X[:, 1] > 0)
    assert next(iter(model.explain().of_task("task"))) == "x1"


def test_what_cannot_be_explained_says_why():
    model = fitted()
    frame, _ = sites()
    with pytest.raises(InputError, match="No task has learnt the label 'maybe'"):
        model.explain(frame, ["maybe"] * len(frame))
    with pytest.raises(InputError, match="y"):
        model.explain(frame)
    with pytest.raises(UnknownTaskError, match="Unknown task 'Niece'"):
        model.explain(task="Niece")
    with pytest.raises(ParameterError, match="folds=1"):
        model.explain(folds=1)
    with pytest.raises(ParameterError, match="repetitions=0"):
        model.explain(repetitions=0)
