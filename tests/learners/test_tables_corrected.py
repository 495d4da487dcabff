"""``shared=None``: others' linear models are asked, and a task corrects what others answer."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import softmax
from small_tables import MODELS, answers, classifier, inputs, table

from lifelong import load, save
from lifelong.channels.stacking import log_opinion
from lifelong.learners.table_corrections import (
    LEAST_ROWS,
    corrected_opinion,
    opinions_of_others,
    with_corrections,
)
from lifelong.learners.table_knowledge import TaskMix
from lifelong.learners.table_others import ask_others, mean_of_linears
from lifelong.learners.table_weights import with_weights_of_others

FRAME = table()
NEW = inputs(table(seed=1))
each_model = pytest.mark.parametrize(("make", "target"), MODELS.values(), ids=MODELS)


def asking(make, target, frame=FRAME, **parameters):
    return make(shared=None, **parameters).fit(inputs(frame), frame[target])


@each_model
def test_the_mean_of_linear_models_is_that_of_each_by_its_share(make, target):
    known = asking(make, target).knowledge_
    for task, mix in known.channels.items():
        X = known.memory[task].X
        each = [known.forests[other].linear.answers(X) for other in mix.others]
        expected = np.tensordot(mix.linear_shares, each, axes=1)
        found = mean_of_linears(known, X, mix.others, mix.linear_shares)
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-6)
        assert mix.linear_shares.sum() == pytest.approx(1)


@each_model
def test_the_third_opinion_of_others_is_their_mix_and_what_the_tasks_rows_add(make, target):
    model = asking(make, target)
    known = model.knowledge_
    mix = known.channels["lyon"]
    X = known.memory["lyon"].X
    opinions = opinions_of_others(known, X, mix.others, mix)
    forests, linears = known.unseen
    scores = mix.correction.scores(X)
    if target == "days":
        expected = forests * opinions[0] + linears * opinions[1] + scores
    else:
        logs = [log_opinion(found) for found in opinions]
        expected = softmax(forests * logs[0] + linears * logs[1] + scores, axis=1)
    found = corrected_opinion(known, X, mix, opinions, model.aim)
    np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-6)


@each_model
def test_the_corrected_answer_to_a_row_has_not_seen_its_target(make, target):
    model = asking(make, target)
    known = model.knowledge_
    rows = known.memory["lyon"]
    targets = rows.targets.copy()
    targets[3] = targets[targets != targets[3]][0]
    memory = {**known.memory, "lyon": replace(rows, targets=targets)}
    changed = with_corrections(replace(known, memory=memory), ["lyon"], model.aim)
    before, after = (found.channels["lyon"] for found in (known, changed))
    np.testing.assert_array_equal(before.held_out[3, 3], after.held_out[3, 3])
    assert not np.array_equal(before.correction.slopes, after.correction.slopes)


def test_a_task_that_differs_by_a_level_and_a_slope_corrects_the_others():
    frame = table(60, ("a", "b", "c", "d"))
    frame["ill"] = np.where(
        frame.site == "d", np.where(frame.dose > 0, "no", "yes"), frame.ill
    )  # the other way round
    model = asking(classifier, "ill", frame)
    mix = model.knowledge_.channels["d"]
    corrected, uncorrected = mix.losses[3], mix.losses[1:3].min()
    assert corrected < uncorrected - 0.1


def test_rows_of_one_class_and_a_few_rows_correct_nothing():
    small = FRAME[FRAME.site == "oslo"].index[LEAST_ROWS - 1 :]
    frame = FRAME.drop(small)
    frame = frame[(frame.site != "pisa") | (frame.ill == "yes")]
    known = asking(classifier, "ill", frame).knowledge_
    assert known.channels["lyon"].correction is not None
    assert known.channels["pisa"].correction is None
    assert known.channels["oslo"].correction is None
    assert known.forests["oslo"].linear is None
    lyon = known.channels["lyon"]
    assert lyon.linear_shares[lyon.others.index("oslo")] == 0


def test_where_no_task_is_large_enough_for_a_linear_model_forests_stand_in():
    model = asking(classifier, "ill", table(LEAST_ROWS - 1))
    known = model.knowledge_
    assert all(own.linear is None for own in known.forests.values())
    for mix in known.channels.values():
        np.testing.assert_array_equal(mix.held_out[1], mix.held_out[2])
    for frame in (NEW, NEW.assign(site="never seen")):
        np.testing.assert_allclose(model.predict_proba(frame).sum(axis=1), 1)


def test_no_linear_model_says_of_fewer_rows_than_a_leaf_may():
    frame = FRAME.drop(FRAME[FRAME.site == "oslo"].index[10:])
    known = asking(classifier, "ill", frame, min_samples_leaf=11).knowledge_
    has_one = {task: own.linear is not None for task, own in known.forests.items()}
    assert has_one == {"lyon": True, "oslo": False, "pisa": True}


@each_model
def test_a_forgotten_tasks_linear_model_is_asked_no_more(make, target):
    frame = table(20, ("a", "b", "c", "d"))
    model = asking(make, target, frame)
    gone = model.knowledge_.forests["c"].linear
    model.forget("c")
    known = model.knowledge_
    assert all("c" not in mix.others for mix in known.channels.values())
    assert all(own.linear is not gone for own in known.forests.values())
    fresh = with_weights_of_others(ask_others(known, list(known.tasks)), model.aim)
    fresh = with_corrections(fresh, list(known.tasks), model.aim)
    assert fresh.unseen == known.unseen
    for task, mix in known.channels.items():
        again = fresh.channels[task]
        np.testing.assert_array_equal(mix.linear_shares, again.linear_shares)
        np.testing.assert_array_equal(mix.correction.slopes, again.correction.slopes)
        np.testing.assert_array_equal(mix.held_out, again.held_out)


@each_model
def test_what_is_forgotten_without_sharing_or_asking_leaves_no_opinion_of_others(make, target):
    model = asking(make, target)
    model.set_params(shared=False).forget("oslo")
    known = model.knowledge_
    assert not known.asks_others
    assert not known.asks_linear
    rest = NEW[NEW.site != "oslo"]
    assert np.isfinite(answers(model, rest)).all()


def of_before(model):
    """What a model was before linear models were asked: two opinions."""
    known = model.knowledge_
    channels = {
        task: TaskMix(
            np.array([0.4, 0.8]),
            mix.centre,
            mix.held_out[:2],
            mix.losses[[0, 1, -1]],
            mix.others,
            mix.shares,
        )
        for task, mix in known.channels.items()
    }
    forests = {task: replace(own, linear=None) for task, own in known.forests.items()}
    return replace(
        known,
        channels=channels,
        forests=forests,
        common=(0.4, 0.8),
        unseen=(1.0,),
        asks_linear=False,
    )


@each_model
def test_a_model_from_before_linear_models_were_asked_loads_and_learns_them(make, target, tmp_path):
    model = asking(make, target)
    model.knowledge_ = of_before(model)
    before = answers(model, NEW)
    save(model, tmp_path / "model")
    again = load(tmp_path / "model")
    np.testing.assert_array_equal(answers(again, NEW), before)
    more = table(10, ("lyon",), seed=2)
    again.partial_fit(inputs(more), more[target])
    known = again.knowledge_
    assert known.asks_linear
    assert all(own.linear is not None for own in known.forests.values())
    assert {len(mix.weights) for mix in known.channels.values()} == {4}


@each_model
def test_a_task_that_nobody_can_answer_for_is_answered_by_its_own_forest(make, target):
    frame = FRAME[FRAME.site == "lyon"]
    known = asking(make, target, frame).knowledge_
    np.testing.assert_array_equal(known.channels["lyon"].weights, [1, 0, 0, 0])


def test_explain_names_what_others_answer():
    explained = asking(classifier, "ill").explain(task="lyon")
    assert explained.opinions == (
        "own forest",
        "other tasks",
        "other tasks' linear models",
        "other tasks, corrected",
    )
    assert "corrected" in str(explained)
