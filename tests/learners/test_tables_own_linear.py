"""Linear models of tasks, and tasks that come between two makings of the shared encoder."""

from dataclasses import replace

import numpy as np
import pytest
from small_tables import MODELS, answers, inputs, table

from lifelong import LifelongClassifier, LifelongRegressor, load, save
from lifelong.learners.table_linears import CLEAR_GAIN, gain_of_linears, with_own_linears

N_COLUMNS = 12
SITES = ("a", "b", "c", "d")


def slopes(site):
    """Every task has slopes of its own."""
    return np.random.default_rng(SITES.index(site)).normal(size=N_COLUMNS)


def rows_of(site, n, seed=0):
    X = np.random.default_rng([seed, SITES.index(site)]).normal(size=(n, N_COLUMNS))
    return X, X @ slopes(site)


def linear_tasks(n=40, make=LifelongClassifier):
    """A model of tasks that are linear, each in its own way."""
    model = make(n_estimators=20, random_state=0)
    X = np.concatenate([rows_of(site, n)[0] for site in SITES])
    y = np.concatenate([rows_of(site, n)[1] for site in SITES])
    if make is LifelongClassifier:
        y = y > 0
    return model.fit(X, y, task=np.repeat(SITES, n))


def test_tasks_with_slopes_of_their_own_have_linear_models_of_their_own():
    model = linear_tasks()
    assert model.knowledge_.reads_linear
    assert model.explain(task="a").opinions[:2] == ("own forest", "own linear model")
    hits = []
    for site in SITES:
        X, score = rows_of(site, 500, seed=1)
        hits.append(model.score(X, score > 0, task=site))
        linear = model.knowledge_.forests[site].linear.answers(X.astype(np.float32))
        assert (linear.argmax(axis=1) == (score > 0)).mean() > 0.75
    assert np.mean(hits) > 0.8


def test_numbers_have_linear_models_of_their_own_too():
    model = linear_tasks(make=LifelongRegressor)
    assert model.knowledge_.reads_linear
    X, numbers = rows_of("b", 300, seed=1)
    error = np.mean((model.predict(X, task="b") - numbers) ** 2)
    assert error < 0.2 * numbers.var()


@pytest.mark.parametrize("make", [LifelongClassifier, LifelongRegressor])
def test_tasks_with_the_same_slopes_have_none(make):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(160, N_COLUMNS))
    score = X @ slopes("a") + rng.normal(size=160)
    y = score if make is LifelongRegressor else score > 0
    model = make(n_estimators=20, random_state=0).fit(X, y, task=np.repeat(SITES, 40))
    assert not model.knowledge_.reads_linear
    assert all(own.linear is None for own in model.knowledge_.forests.values())


def test_the_rule_is_the_gain_on_held_out_rows():
    known = linear_tasks().knowledge_
    channels = {
        task: replace(mix, held_out=np.delete(mix.held_out, 1, axis=0))
        for task, mix in known.channels.items()
    }
    forests = {task: replace(own, linear=None) for task, own in known.forests.items()}
    before = replace(known, channels=channels, forests=forests, reads_linear=False)
    again = with_own_linears(before, "classes")
    for task, mix in again.channels.items():
        np.testing.assert_array_equal(mix.held_out, known.channels[task].held_out)
    assert gain_of_linears(before, again, list(known.tasks), "classes") >= CLEAR_GAIN


def test_held_out_answers_of_linear_models_have_not_seen_their_rows():
    """With as many columns as rows a linear model fits any labels: held out, it is a guess."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(160, N_COLUMNS))
    noise = rng.random(160) < 0.5
    model = linear_tasks()
    model.partial_fit(X[:60], noise[:60], task="a").partial_fit(X[60:], noise[60:], task="b")
    known = model.knowledge_
    for task in ("a", "b"):
        own = known.channels[task].held_out[1]
        rows = known.memory[task].targets
        hits = own[40:].argmax(axis=1) == rows[40:]
        assert hits.mean() < 0.65


def test_more_rows_more_columns_saving_and_forgetting_go_on_with_linear_models(tmp_path):
    model = linear_tasks()
    X, score = rows_of("a", 4, seed=2)
    model.partial_fit(X, score > 0, task="a")  # too few for a new forest: more in its leaves
    assert model.knowledge_.channels["a"].held_out.shape[:2] == (5, 44)
    asked, _ = rows_of("a", 30, seed=3)
    save(model, tmp_path / "model")
    same = load(tmp_path / "model")
    expected = model.predict_proba(asked, task="a")
    np.testing.assert_array_equal(same.predict_proba(asked, task="a"), expected)
    more, score = rows_of("b", 60, seed=2)
    for one in (model, same):
        one.partial_fit(more, score > 0, task="b")
        one.rename("b", "e")
        one.forget("c")
    expected = model.predict_proba(asked, task="e")
    np.testing.assert_array_equal(same.predict_proba(asked, task="e"), expected)
    same.set_params(shared=False).partial_fit(*small_lesson(), task="a")
    assert not same.knowledge_.reads_linear
    assert all(own.linear is None for own in same.knowledge_.forests.values())


def small_lesson():
    X, score = rows_of("a", 6, seed=4)
    return X, score > 0


def test_a_task_unlike_the_others_that_comes_late_is_answered_by_its_own_rows():
    """The shared encoder has not learnt from it, and the common weights are those of others."""
    rng = np.random.default_rng(0)
    model = LifelongClassifier(n_estimators=30, random_state=0)
    for site in ("a", "b", "c", "d", "e"):
        X = rng.normal(size=(60, 4))
        model.partial_fit(X, X[:, 0] > 0, task=site)
    X = rng.normal(size=(60, 4))
    model.partial_fit(X, X[:, 0] < 0, task="late")
    assert model.knowledge_.shared.place_of("late") is None
    asked = rng.normal(size=(500, 4))
    alone = LifelongClassifier(n_estimators=30, random_state=0).fit(X, X[:, 0] < 0, task="late")
    right = asked[:, 0] < 0
    assert model.score(asked, right, task="late") > 0.9
    assert model.score(asked, right, task="late") > alone.score(asked, right, task="late") - 0.05


def test_a_task_of_one_class_is_no_reason_to_make_the_shared_encoder_anew():
    rng = np.random.default_rng(0)
    model = LifelongClassifier(n_estimators=20, random_state=0)
    for site in ("a", "b", "c", "d"):
        X = rng.normal(size=(40, 4))
        model.partial_fit(X, X[:, 0] > 0, task=site)
    made = model.knowledge_.shared.tasks
    model.partial_fit(rng.normal(size=(20, 4)), np.ones(20, bool), task="one class")
    assert model.knowledge_.shared.tasks == made == ("a", "b", "c", "d")
    asked = rng.normal(size=(300, 4))
    assert model.score(asked, asked[:, 0] > 0, task="one class") > 0.8
    model.partial_fit(asked[:40], asked[:40, 0] > 0, task="e")
    assert "e" in model.knowledge_.shared.tasks


@pytest.mark.parametrize(("make", "target"), MODELS.values(), ids=MODELS)
def test_tables_with_text_and_holes_may_have_linear_models(make, target, tmp_path, monkeypatch):
    monkeypatch.setattr("lifelong.learners.table_linears.CLEAR_GAIN", -np.inf)
    frame = table()
    model = make().fit(inputs(frame), frame[target])
    assert model.knowledge_.reads_linear
    later = table(30, seed=5).assign(new=1.0)
    model.partial_fit(inputs(later), later[target])
    save(model, tmp_path / "model")
    asked = inputs(table(10, seed=1))
    np.testing.assert_array_equal(answers(load(tmp_path / "model"), asked), answers(model, asked))
    assert np.isfinite(answers(model, asked)).all()
