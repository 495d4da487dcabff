"""LifelongClassifier and LifelongRegressor: tables with a task per row."""

import threading

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.utils import compute_sample_weight
from small_tables import MODELS, SITES, answers, classifier, inputs, regressor, same, table

from lifelong import LifelongClassifier
from lifelong._random import generator
from lifelong.encoders.answers import grow_answering
from lifelong.encoders.shared_fit import draw_in_bag
from lifelong.exceptions import NotLearntError, UnknownTaskError, UnsupportedError
from lifelong.rows import table_of
from lifelong.rows.views import TreeView

each_model = pytest.mark.parametrize(("make", "target"), MODELS.values(), ids=MODELS)
FRAME = table()
NEW = inputs(table(10, seed=1))


def fitted(make, target, frame=FRAME, **parameters):
    return make(**parameters).fit(inputs(frame), frame[target])


# A task per row


@each_model
def test_tasks_in_a_column_and_beside_the_table_give_the_same_model(make, target):
    by_column = fitted(make, target)
    rows = inputs(FRAME)
    beside = make(task_column=None)
    for names in (rows.site, rows.site.tolist(), rows.site.to_numpy(), pl.Series(rows.site)):
        beside.fit(rows.drop(columns="site"), FRAME[target], task=names)
        assert list(beside.tasks_) == list(by_column.tasks_)
        np.testing.assert_array_equal(
            answers(by_column, NEW), answers(beside, NEW.drop(columns="site"), task=NEW.site)
        )


@each_model
@pytest.mark.parametrize("dtype", [np.int64, np.float64, "Int64"])
def test_tasks_may_be_whole_numbers(make, target, dtype):
    frame = table(sites=(20, 3, 11))
    rows = inputs(frame).astype({"site": dtype})
    by_column = make().fit(rows, frame[target])
    beside = make(task_column=None)
    beside.fit(rows.drop(columns="site"), frame[target], task=rows.site)
    assert list(by_column.tasks_) == list(beside.tasks_) == list(dict.fromkeys(frame.site))
    assert all(type(name) is int for name in by_column.tasks_)
    np.testing.assert_array_equal(
        answers(by_column, rows), answers(beside, rows.drop(columns="site"), task=rows.site)
    )


@each_model
def test_one_name_may_stand_for_all_rows(make, target):
    model = fitted(make, target)
    beside = make(task_column=None)
    beside.fit(inputs(FRAME).drop(columns="site"), FRAME[target], task=FRAME.site)
    rows = NEW[NEW.site == "oslo"]
    without = rows.drop(columns="site")
    np.testing.assert_array_equal(answers(model, rows), answers(beside, without, task="oslo"))


@each_model
@pytest.mark.parametrize("library", [pl.from_pandas, pa.Table.from_pandas])
def test_every_library_gives_the_same_model(make, target, library):
    model = fitted(make, target)
    other = make().fit(library(inputs(FRAME)), FRAME[target].to_numpy())
    assert same(model, other, NEW)
    np.testing.assert_array_equal(answers(model, NEW), answers(other, library(NEW)))


@each_model
def test_each_row_is_answered_for_its_own_task_whatever_rows_are_beside_it(make, target):
    model = fitted(make, target)
    together = answers(model, NEW)
    for row in range(0, len(NEW), 5):
        np.testing.assert_allclose(answers(model, NEW.iloc[[row]])[0], together[row], atol=1e-12)
    other_site = NEW.assign(site="pisa")
    assert not np.array_equal(answers(model, other_site), together)


@each_model
def test_the_order_of_columns_does_not_matter_when_asked(make, target):
    model = fitted(make, target)
    np.testing.assert_array_equal(answers(model, NEW[NEW.columns[::-1]]), answers(model, NEW))


@each_model
def test_an_array_with_a_position_as_task_column_is_a_table_too(make, target):
    rows = np.column_stack([FRAME.dose, np.repeat([7, 8, 9], 36), FRAME.smokes])
    model = make(task_column=1).fit(rows, FRAME[target])
    assert list(model.tasks_) == [7, 8, 9]
    assert model.n_features_in_ == 3
    assert not hasattr(model, "feature_names_in_")
    numbered = make(task_column=1).fit(pd.DataFrame(rows), FRAME[target])
    np.testing.assert_array_equal(model.predict(rows[:9]), numbered.predict(pd.DataFrame(rows[:9])))


# Classes and probabilities


def test_columns_of_probabilities_are_one_and_the_same_for_all_tasks():
    frame = FRAME.assign(ill=np.where(FRAME.site == "lyon", FRAME.ill, FRAME.ill + "!"))
    model = fitted(classifier, "ill", frame)
    assert model.classes_.tolist() == ["no", "no!", "yes", "yes!"]
    assert model.classes_of("lyon").tolist() == ["no", "yes"]
    probabilities = model.predict_proba(NEW)
    assert probabilities.shape == (len(NEW), 4)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    best = model.classes_[probabilities.argmax(axis=1)]
    np.testing.assert_array_equal(model.predict(NEW), best)
    model.partial_fit(inputs(FRAME)[:20], ["a"] * 20)
    assert model.classes_.tolist() == ["a", "no", "no!", "yes", "yes!"]
    assert model.predict_proba(NEW).shape == (len(NEW), 5)


def test_a_task_never_answers_with_a_label_that_no_task_like_it_has():
    """However sure the others are: rows of one site, asked for another of other labels."""
    rng = np.random.default_rng(0)
    site = np.repeat(["a", "b", "c"], 60)
    x = rng.normal(size=180) + np.where(site == "c", 30, 0)
    y = np.where(x > np.where(site == "c", 30, 0), "yes", "no").astype(object)
    y[site == "c"] = np.where(x[site == "c"] > 30, "blue", "red")
    frame = pd.DataFrame({"site": site, "x": x})
    model = classifier(n_estimators=20).fit(frame, y)
    asked = pd.DataFrame({"site": "a", "x": np.linspace(28, 32, 50)})
    assert set(model.predict(asked)) <= {"yes", "no"}
    others = np.isin(model.classes_, ["blue", "red"])
    assert model.predict_proba(asked)[:, others].max() < 1e-5
    asked = asked.assign(site="c", x=asked.x - 30)
    assert set(model.predict(asked)) <= {"blue", "red"}


def test_a_task_of_one_class_answers_with_what_others_know():
    frame = table(60)
    new = table(5, sites=("rome",), seed=5).assign(ill="no")
    model = fitted(classifier, "ill", pd.concat([frame, new], ignore_index=True), n_estimators=20)
    rows = inputs(table(40, seed=7)).assign(site="rome")
    probabilities = model.predict_proba(rows)
    assert model.classes_of("rome").tolist() == ["no"]
    assert (probabilities[:, 1] > 0.5).mean() > 0.2
    sick = rows.dose > 1
    assert probabilities[sick, 1].mean() > probabilities[~sick, 1].mean() + 0.2
    alone = classifier(shared=False).fit(inputs(new), new.ill)
    np.testing.assert_array_equal(alone.predict_proba(inputs(new)), np.ones((5, 1)))


def test_labels_keep_their_type():
    for labels in (FRAME.ill == "yes", (FRAME.ill == "yes").astype(int), FRAME.ill.to_numpy("U3")):
        model = classifier().fit(inputs(FRAME), labels)
        assert model.predict(NEW).dtype == model.classes_.dtype
        assert model.classes_.tolist() == sorted(set(np.asarray(labels).tolist()))


def test_labels_that_were_declared_have_columns():
    model = classifier().partial_fit(inputs(FRAME), FRAME.ill, classes=["no", "perhaps", "yes"])
    assert model.classes_.tolist() == ["no", "perhaps", "yes"]
    assert model.predict_proba(NEW)[:, 1].max() < 1e-5
    assert "perhaps" not in model.predict(NEW)


# Tasks that are not known


@each_model
def test_an_unseen_task_gets_the_answer_of_all_tasks_together(make, target):
    model = fitted(make, target)
    rows = NEW.assign(site="rome")
    assert np.isfinite(answers(model, rows)).all()
    mixed = pd.concat([NEW, rows])
    np.testing.assert_allclose(
        answers(model, mixed), np.vstack([answers(model, NEW), answers(model, rows)]), atol=1e-12
    )
    truth = table(10, seed=1)[target]
    assert model.score(rows, truth.to_numpy()) > 0.5
    model.set_params(on_unseen="raise")
    np.testing.assert_array_equal(answers(model, NEW), answers(model, NEW))
    with pytest.raises(UnknownTaskError, match="Unknown task 'oslo2'. Did you mean 'oslo'"):
        model.predict(NEW.assign(site="oslo2"))


@each_model
def test_tasks_that_share_nothing_answer_for_an_unseen_one_by_their_mean(make, target):
    model = fitted(make, target, shared=False)
    rows = NEW.assign(site="rome")
    each = [answers(model, rows.assign(site=site)) for site in SITES]
    if target == "days":
        each = [found[:, :1] for found in each]
    wanted = np.mean(each, axis=0)
    np.testing.assert_allclose(answers(model, rows)[:, : wanted.shape[1]], wanted, atol=1e-9)


# Learning on


@each_model
def test_more_rows_new_tasks_new_columns_and_new_categories_are_learnt(make, target):
    model = fitted(make, target)
    before = answers(model, NEW)
    more = table(20, sites=("rome", "oslo"), seed=3)
    rows = inputs(more).assign(pain="agony", weight=np.arange(40.0)).drop(columns="visit")
    model.partial_fit(rows, more[target])
    assert list(model.tasks_) == [*dict.fromkeys(FRAME.site), "rome"]
    assert model.columns_.by_name["pain"].categories[-1] == "agony"
    assert model.columns_.by_name["weight"].kind == "number"
    assert model.tasks_["oslo"].n_rows == 56
    after = answers(model, NEW)
    assert after.shape == before.shape
    assert not np.array_equal(after, before)
    assert np.isfinite(answers(model, rows)).all()


def test_new_labels_are_learnt():
    model = fitted(classifier, "ill")
    more = table(20, sites=("oslo",), seed=3)
    rows = inputs(more).assign(dose=np.linspace(20, 30, 20))
    model.partial_fit(rows, ["dead"] * 20)
    assert model.classes_.tolist() == ["dead", "no", "yes"]
    assert model.classes_of("oslo").tolist() == ["no", "yes", "dead"]
    assert (model.predict(rows) == "dead").mean() > 0.9
    assert (model.predict(NEW) == "dead").mean() < 0.2


@each_model
def test_small_lessons_teach_what_a_large_one_does(make, target):
    large = table(80, seed=11)
    test = table(60, seed=12)
    whole = make(n_estimators=6).fit(inputs(large), large[target])
    bit_by_bit = make(n_estimators=6)
    for start in range(0, len(large), 24):
        part = large.iloc[start : start + 24]
        bit_by_bit.partial_fit(inputs(part), part[target])
    assert {name: record.n_rows for name, record in bit_by_bit.tasks_.items()} == dict.fromkeys(
        SITES, 80
    )
    scores = [model.score(inputs(test), test[target]) for model in (whole, bit_by_bit)]
    assert scores[1] > scores[0] - 0.08


@each_model
def test_fit_forgets_what_was_known_before(make, target):
    model = fitted(make, target)
    model.partial_fit(inputs(table(9, sites=("rome",))), table(9, sites=("rome",))[target])
    assert same(model.fit(inputs(FRAME), FRAME[target]), fitted(make, target), NEW)


@each_model
@pytest.mark.parametrize("n", [1, 2, 3])
def test_a_few_rows_are_enough(make, target, n):
    frame = table(n)
    model = fitted(make, target, frame)
    assert np.isfinite(model.predict_proba(NEW) if target == "ill" else model.predict(NEW)).all()
    one = frame.iloc[:1]
    model.partial_fit(inputs(one).assign(site="new"), one[target])
    assert len(model.predict(NEW)) == len(NEW)


@each_model
def test_sharing_can_be_switched_off_and_on_between_lessons(make, target):
    model = fitted(make, target)
    more = table(20, sites=("rome", "oslo"), seed=3)
    model.set_params(shared=False).partial_fit(inputs(more), more[target])
    assert model.knowledge_.shared is None
    assert np.isfinite(answers(model, NEW)[:, 0]).all()
    model.set_params(shared=True).partial_fit(inputs(more), more[target])
    assert model.knowledge_.shared is not None
    assert np.isfinite(answers(model, NEW)).all()


@each_model
def test_many_tasks_are_told_apart_by_ranks(make, target):
    sites = tuple(f"s{number}" for number in range(40))
    frame = table(8, sites=sites)
    model = fitted(make, target, frame, n_estimators=3)
    assert model.knowledge_.shared.codes.shape[1] < 40
    unseen = inputs(frame)[:5].assign(site="another")
    assert np.isfinite(answers(model, pd.concat([inputs(frame)[:5], unseen]))).all()


# Same seed, same bits


@each_model
def test_the_same_seed_gives_the_same_bits_whatever_the_threads(make, target):
    more = table(30, sites=("rome", "oslo"), seed=3)
    models = []
    for n_jobs in (None, 2):
        model = fitted(make, target, n_jobs=n_jobs)
        models.append(model.partial_fit(inputs(more), more[target]))
    assert same(*models, NEW)
    assert not same(models[0], fitted(make, target, random_state=1), NEW)


@each_model
def test_threads_predict_while_another_learns(make, target):
    model = fitted(make, target)
    allowed = [answers(model, NEW)]
    seen = []
    done = threading.Event()

    def ask():
        while not done.is_set():
            seen.append(answers(model, NEW))

    askers = [threading.Thread(target=ask) for _ in range(2)]
    for asker in askers:
        asker.start()
    for seed in range(3):
        more = table(20, seed=20 + seed)
        model.partial_fit(inputs(more), more[target])
        allowed.append(answers(model, NEW))
    done.set()
    for asker in askers:
        asker.join()
    assert seen
    for found in seen:
        assert any(np.array_equal(found, right) for right in allowed)


# Weights


@each_model
def test_a_row_of_weight_0_is_not_there(make, target):
    gone = np.arange(len(FRAME)) % 5 == 0
    frame = FRAME.copy()
    frame.loc[gone, "pain"] = "never counted"
    frame.loc[gone, "site"] = np.where(np.arange(gone.sum()) % 2, "nowhere", "lyon")
    if target == "ill":
        frame.loc[gone, "ill"] = "wrong"
    weighted = make().fit(inputs(frame), frame[target], sample_weight=(~gone).astype(float))
    without = fitted(make, target, frame[~gone])
    assert same(weighted, without, NEW)
    if target == "ill":
        assert weighted.classes_.tolist() == ["no", "yes"]


@each_model
def test_weights_move_answers_to_rows_that_count_more(make, target):
    rows = inputs(FRAME)
    high = FRAME.days > FRAME.days.median()
    heavy = make().fit(rows, FRAME[target], sample_weight=np.where(high, 10.0, 0.1))
    light = make().fit(rows, FRAME[target], sample_weight=np.where(high, 0.1, 10.0))
    place = 1 if target == "ill" else 0
    assert answers(heavy, NEW)[:, place].mean() > answers(light, NEW)[:, place].mean() + 0.1


def test_class_weights_are_weights_of_rows():
    rows = inputs(FRAME)
    by_class = classifier(class_weight={"yes": 3.0, "no": 0.5}).fit(rows, FRAME.ill)
    weights = np.where(FRAME.ill == "yes", 3.0, 0.5)
    assert same(by_class, classifier().fit(rows, FRAME.ill, sample_weight=weights), NEW)
    balanced = classifier(class_weight="balanced").fit(rows, FRAME.ill)
    weights = compute_sample_weight("balanced", FRAME.ill)
    assert same(balanced, classifier().fit(rows, FRAME.ill, sample_weight=weights), NEW)


# Every task by itself


@each_model
def test_tasks_that_share_nothing_are_a_forest_each(make, target):
    model = fitted(make, target, shared=False)
    known = model.knowledge_
    assert known.shared is None
    rows = known.columns.rows(table_of(NEW.drop(columns="site")))
    for site in SITES:
        own = known.memory[site]
        view = TreeView.of(known.columns)
        rng = generator(known.seed, site, "forest", len(own.targets))
        in_bag = draw_in_bag(own.targets, 4, model.aim, rng, stratified=False)
        forest, _ = grow_answering(
            view(own.X),
            own.targets,
            in_bag=in_bag,
            n_answers=known.n_answers,
            aim=model.aim,
            rng=rng,
            max_features=model.max_features,
            min_samples_leaf=model.min_samples_leaf,
        )
        of_site = (NEW.site == site).to_numpy()
        wanted = forest.answers(view(rows))[of_site]
        if target == "ill":  # no answer is surer than the floor
            wanted = np.clip(wanted, 0.005, 1)
            wanted /= wanted.sum(axis=1, keepdims=True)
            wanted = wanted[:, np.argsort(known.labels)]
        found = answers(model, NEW)[of_site][:, : wanted.shape[1]]
        np.testing.assert_allclose(found, wanted, atol=1e-6)


@each_model
def test_other_tasks_change_nothing_where_nothing_is_shared(make, target):
    model = fitted(make, target, shared=False)
    alone = make(shared=False)
    for site in dict.fromkeys(FRAME.site):
        part = FRAME[FRAME.site == site]
        alone.partial_fit(inputs(part), part[target])
    # categories come in another order there, which trees do not mind but for their randomness
    assert list(alone.tasks_) == list(model.tasks_)
    assert alone.knowledge_.shared is None


# Forgetting and renaming


@each_model
@pytest.mark.parametrize("shared", [True, False, None])
def test_a_forgotten_task_was_never_there(make, target, shared):
    frame = FRAME.sort_values("site", kind="stable", ignore_index=True)
    for gone in ("oslo", "pisa"):
        model = fitted(make, target, frame, shared=shared).forget(gone)
        never = fitted(make, target, frame[frame.site != gone], shared=shared)
        assert same(model, never, NEW)


@each_model
def test_what_a_forgotten_task_alone_had_is_gone(make, target):
    frame = FRAME.sort_values("site", kind="stable", ignore_index=True)
    last = frame.site == "pisa"
    frame["room"] = np.where(last, "r7", None)
    frame.loc[last, "pain"] = "secret"
    if target == "ill":
        frame.loc[last, "ill"] = "a secret label"
    model = fitted(make, target, frame).forget("pisa")
    rest = frame[~last].drop(columns="room")
    assert same(model, fitted(make, target, rest), NEW)
    assert "room" not in model.columns_.by_name
    assert "secret" not in str(model.columns_)
    if target == "ill":
        assert model.classes_.tolist() == ["no", "yes"]
    more = table(20, seed=8)
    for one in (model, again := fitted(make, target, rest)):
        one.partial_fit(inputs(more), more[target])
    assert same(model, again, NEW)


@each_model
def test_all_tasks_can_be_forgotten_and_others_be_learnt(make, target):
    model = fitted(make, target)
    for site in SITES:
        model.forget(site)
    assert not model.tasks_
    assert len(model.columns_) == 0
    with pytest.raises(NotLearntError):
        model.predict(NEW)
    other = pd.DataFrame({"site": ["x", "y"] * 10, "size": np.arange(20.0)})
    model.partial_fit(other, FRAME[target][:20].to_numpy())
    assert [column.name for column in model.columns_] == ["size"]
    never = make().fit(other, FRAME[target][:20].to_numpy())
    assert same(model, never, other)


@each_model
def test_a_task_of_another_name_gives_the_same_answers(make, target):
    model = fitted(make, target)
    before = answers(model, NEW)
    order = list(model.tasks_)
    model.rename("oslo", "bergen")
    assert list(model.tasks_) == ["bergen" if name == "oslo" else name for name in order]
    renamed = NEW.assign(site=NEW.site.replace("oslo", "bergen"))
    np.testing.assert_array_equal(answers(model, renamed), before)
    more = table(20, sites=("bergen",), seed=3)
    model.partial_fit(inputs(more), more[target])
    assert model.tasks_["bergen"].n_rows == 56


# What these models do not do


def test_what_they_cannot_do_they_say():
    model = fitted(classifier, "ill", task_column="site")
    for method in (model.novelty, model.predict_task, model.predict_task_proba):
        with pytest.raises(UnsupportedError):
            method(NEW)
    assert not hasattr(regressor(), "predict_proba")


def test_sizes_count_everything():
    model = fitted(classifier, "ill")
    sizes = model.sizes()
    assert sizes["rows"] == sum(rows.nbytes for rows in model.knowledge_.memory.values())
    assert all(value > 0 for value in sizes.values())
    assert isinstance(model.plain_models(3)["rf"].fit([[0], [1]], [0, 1]), object)
    assert LifelongClassifier().get_params()["shared"] is True


# Intervals


def test_intervals_hold_about_as_many_numbers_as_they_say():
    train = table(150, seed=30)
    test = table(300, seed=31)
    model = fitted(regressor, "days", train, n_estimators=20)
    for share in (0.5, 0.9):
        found = model.predict(inputs(test), interval=share)
        np.testing.assert_array_equal(found[:, 0], model.predict(inputs(test)))
        inside = (found[:, 1] <= test.days) & (test.days <= found[:, 2])
        assert inside.mean() == pytest.approx(share, abs=0.06)
    narrow, wide = (model.predict(NEW, interval=share) for share in (0.5, 0.9))
    assert (wide[:, 2] - wide[:, 1] > narrow[:, 2] - narrow[:, 1]).all()


def test_intervals_of_a_noisy_task_are_wider():
    train = table(100, seed=30)
    rng = np.random.default_rng(0)
    noise = np.where(train.site == "pisa", 6, 0) * rng.normal(size=len(train))
    model = regressor(n_estimators=10).fit(inputs(train), train.days + noise)
    found = model.predict(NEW, interval=0.9)
    width = pd.Series(found[:, 2] - found[:, 1]).groupby(NEW.site.to_numpy()).mean()
    assert width["pisa"] > 1.5 * width["oslo"]
    assert np.isfinite(model.predict(NEW.assign(site="rome"), interval=0.9)).all()
