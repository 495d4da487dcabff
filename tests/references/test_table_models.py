"""More controls on tables: SillyForest.best() on numbers, boosting where it is installed."""

import numpy as np
import pytest
from sklearn.base import clone, is_classifier, is_regressor
from test_pooled import stream_of, taught

import lifelong.references.boosting as boosting
from lifelong._extras import require
from lifelong.exceptions import MissingExtraError
from lifelong.experiments import make_learner
from lifelong.testing import LEARNER_CHECKS, name_of_check, small_stream


def best(seed=0):
    return make_learner("table-silly-f-best", random_state=seed, n_estimators=10)


@pytest.mark.parametrize("check", LEARNER_CHECKS, ids=name_of_check)
def test_silly_forest_on_tables_passes_the_checks_of_learners(check):
    check(best, small_stream())


def test_text_and_holes_are_read_and_tasks_are_told_apart():
    stream = stream_of("class")
    learner = taught(best(), stream)
    for task in stream:
        assert learner.score(task.X_test, task.y_test, task=task.name) > 0.7


@pytest.mark.parametrize("name", ["table-lightgbm", "pooled-lightgbm", "pooled-catboost"])
def test_boosting_that_is_not_installed_says_what_to_install(name, monkeypatch):
    def not_here(module, **words):
        require(f"no_{module}", **words)

    monkeypatch.setattr(boosting, "require", not_here)
    stream = small_stream()
    learner = taught(make_learner(name, random_state=0), stream)
    with pytest.raises(MissingExtraError, match=r"Run: pip install 'lifelong\[boost\]'"):
        learner.predict(stream[0].X_test, task=stream[0].name)


def test_rows_of_one_class_are_answered_without_any_library(monkeypatch):
    monkeypatch.setattr(boosting, "require", lambda *_, **__: None)
    model = boosting.Boosting("catboost").fit(np.zeros((3, 2)), ["yes"] * 3)
    assert model.predict(np.ones((2, 2))).tolist() == ["yes", "yes"]
    assert model.sizes() == (0, 0)


@pytest.mark.parametrize("library", ["lightgbm", "catboost"])
def test_scikit_learn_s_scorers_know_whether_boosting_answers_with_classes_or_numbers(library):
    model = clone(boosting.Boosting(library, target="number", seed=3))
    assert is_regressor(model)
    assert not is_classifier(model)
    assert model.seed == 3
    assert is_classifier(boosting.Boosting(library))
