"""How each task of a model of tables is doing: scores by hand, notes, and what is refused."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import accuracy_score, log_loss, r2_score, roc_auc_score

from lifelong import LifelongClassifier, LifelongRegressor, SillyForest
from lifelong.evaluation.calibration import interval_coverage, reliability_curve
from lifelong.evaluation.health import NOT_KNOWN, health
from lifelong.exceptions import InputError, UnsupportedError

SITES = ("Lyon", "Oslo", "Pisa")


def table(n, seed):
    """Three sites; the target of Pisa is noise."""
    rng = np.random.default_rng(seed)
    site = np.repeat(SITES, n)
    dose = rng.normal(size=3 * n)
    pain = rng.choice(["none", "much"], 3 * n)
    days = np.where(site == "Pisa", rng.normal(size=3 * n), 2 * dose + (pain == "much"))
    frame = pd.DataFrame({"site": site, "dose": dose, "pain": pain, "days": days})
    return frame.assign(ill=np.where(days > 0.2, "yes", "no"))


LEARNT = table(60, 0)
NEW = table(80, 1)
INPUTS = ["site", "dose", "pain"]


@pytest.fixture(scope="module")
def classifier():
    return LifelongClassifier("site", n_estimators=30, random_state=0).fit(
        LEARNT[INPUTS], LEARNT.ill
    )


@pytest.fixture(scope="module")
def regressor():
    return LifelongRegressor("site", n_estimators=30, random_state=0).fit(
        LEARNT[INPUTS], LEARNT.days
    )


def test_scores_of_classes_are_those_of_scikit_learn_task_by_task(classifier):
    found = health(classifier, NEW[INPUTS], NEW.ill)
    assert [task.task for task in found.tasks] == list(SITES)
    assert not found.held_out
    for task in found.tasks:
        rows = NEW[NEW.site == task.task]
        p = classifier.predict_proba(rows[INPUTS])
        assert task.rows == len(rows)
        assert task.scores == pytest.approx(
            {
                "accuracy": accuracy_score(rows.ill, classifier.predict(rows[INPUTS])),
                "log-loss": log_loss(rows.ill, p),
                "AUC": roc_auc_score(rows.ill == "yes", p[:, 1]),
                "calibration error": reliability_curve(
                    p, rows.ill, ["no", "yes"]
                ).calibration_error,
            }
        )


def test_scores_of_numbers_are_those_of_scikit_learn_task_by_task(regressor):
    found = health(regressor, NEW[INPUTS], NEW.days)
    for task in found.tasks:
        rows = NEW[NEW.site == task.task]
        predicted = regressor.predict(rows[INPUTS], interval=0.9)
        off = predicted[:, 0] - rows.days
        assert task.scores == pytest.approx(
            {
                "RMSE": np.sqrt(np.mean(off**2)),
                "absolute error": np.mean(np.abs(off)),
                "R²": r2_score(rows.days, predicted[:, 0]),
                "inside 90 %": interval_coverage(predicted, rows.days),
            }
        )


@pytest.mark.parametrize("target", ["ill", "days"])
def test_own_rows_are_answered_by_trees_that_have_not_seen_them(target, classifier, regressor):
    model = {"ill": classifier, "days": regressor}[target]
    own = health(model)
    seen = health(model, LEARNT[INPUTS], LEARNT[target])
    assert own.held_out
    assert own.rows == len(LEARNT)
    trees_on_seen = np.mean([task.alone for task in seen.tasks])
    trees_held_out = np.mean([task.alone for task in own.tasks])
    assert trees_on_seen < 0.8 * trees_held_out  # who has learnt a row knows it
    assert seen.mean(own.loss) < own.mean(own.loss)  # a linear model remembers rows less


@pytest.mark.parametrize(
    ("make", "target"), [(LifelongClassifier, "ill"), (LifelongRegressor, "days")]
)
def test_own_rows_are_answered_about_as_well_as_new_ones(make, target):
    own = []
    new = []
    for draw in range(6):
        learnt = table(60, 2 * draw)
        others = table(80, 2 * draw + 1)
        model = make("site", n_estimators=30, random_state=0).fit(learnt[INPUTS], learnt[target])
        found = health(model)
        own.append(found.mean(found.loss))
        new.append(health(model, others[INPUTS], others[target]).mean(found.loss))
    assert np.mean(own) == pytest.approx(np.mean(new), rel=0.1)


@pytest.mark.parametrize("target", ["ill", "days"])
def test_a_task_of_noise_is_noted_as_close_to_guessing_and_others_are_not(
    target, classifier, regressor
):
    model = {"ill": classifier, "days": regressor}[target]
    notes = {task.task: task.notes for task in health(model, NEW[INPUTS], NEW[target]).tasks}
    assert "close to guessing" in notes["Pisa"]
    assert "close to guessing" not in notes["Lyon"] + notes["Oslo"]


def test_few_rows_and_tasks_that_are_not_known_are_said(classifier):
    few = pd.concat([NEW[NEW.site == "Lyon"][:4], NEW[NEW.site == "Oslo"].assign(site="Rome")])
    lyon, rome = health(classifier, few[INPUTS], few.ill).tasks
    assert lyon.notes == ("few rows",)
    assert rome.task == NOT_KNOWN
    assert np.isnan(rome.alone)


def test_a_task_whose_rows_are_of_one_class_has_no_auc(classifier):
    ill = NEW[(NEW.site == "Lyon") & (NEW.ill == "yes")]
    (lyon,) = health(classifier, ill[INPUTS], ill.ill).tasks
    assert np.isnan(lyon.scores["AUC"])
    assert np.isnan(health(classifier, ill[INPUTS], ill.ill).mean("AUC"))


def test_what_cannot_be_measured_is_refused(classifier):
    with pytest.raises(InputError, match="Give X and y, or neither"):
        health(classifier, NEW[INPUTS])
    with pytest.raises(InputError, match="No task has learnt the label 'perhaps'"):
        health(classifier, NEW[INPUTS], ["perhaps"] * len(NEW))
    for model in (SillyForest(), LifelongClassifier()):
        with pytest.raises(UnsupportedError, match="models of tables"):
            health(model)


def test_a_task_of_two_classes_has_an_auc_where_others_have_more(classifier):
    third = NEW[NEW.site == "Lyon"].assign(site="Rome", ill="perhaps")
    some = NEW[NEW.site == "Lyon"][:30].assign(site="Rome")
    rome = pd.concat([third, some])
    model = LifelongClassifier("site", n_estimators=4, random_state=0)
    both = pd.concat([NEW, rome])
    model.fit(both[INPUTS], both.ill)
    found = {task.task: task.scores["AUC"] for task in health(model, NEW[INPUTS], NEW.ill).tasks}
    lyon = NEW[NEW.site == "Lyon"]
    no, yes = model.predict_proba(lyon[INPUTS])[:, [0, 2]].T
    assert model.classes_.tolist() == ["no", "perhaps", "yes"]
    assert found["Lyon"] == pytest.approx(roc_auc_score(lyon.ill == "yes", yes / (no + yes)))
    (rome,) = health(model, rome[INPUTS], rome.ill).tasks
    assert np.isnan(rome.scores["AUC"])
