"""``shared=None``: no row is shared, tasks ask each other's forests; and the rule of no harm."""

from dataclasses import replace

import numpy as np
import pytest
from small_tables import MODELS, answers, classifier, inputs, table

from lifelong import load, save
from lifelong.channels.stacking import Evidence
from lifelong.learners import table_learning, table_others
from lifelong.learners.table_others import ask_others, mean_of_others
from lifelong.learners.table_weights import LEAST_ROWS, compared, no_harm

FRAME = table()
NEW = inputs(table(seed=1))
each_model = pytest.mark.parametrize(("make", "target"), MODELS.values(), ids=MODELS)


def asking(make, target, frame=FRAME):
    return make(shared=None).fit(inputs(frame), frame[target])


@each_model
def test_a_task_asks_the_forests_of_the_others_and_no_encoder_is_shared(make, target):
    known = asking(make, target).knowledge_
    assert known.shared is None
    for task, mix in known.channels.items():
        assert set(mix.others) == set(known.tasks) - {task}
        assert len(mix.weights) == 4
        assert mix.shares.sum() == pytest.approx(1)


@each_model
def test_others_count_by_their_loss_on_all_rows_but_the_one_that_is_asked(make, target):
    known = asking(make, target).knowledge_
    for task, mix in known.channels.items():
        rows = known.memory[task]
        answers = np.stack([known.forests[other].answers(rows.X) for other in mix.others])
        losses = by_hand(answers, rows.targets)
        strength = table_others.CREDIT / np.sqrt(len(rows.targets))
        expected = softmax(-strength * losses.sum(axis=1))
        np.testing.assert_allclose(mix.shares, expected, rtol=1e-4)
        for i in range(len(rows.targets)):
            without = softmax(-strength * (losses.sum(axis=1) - losses[:, i]))
            np.testing.assert_allclose(mix.held_out[1, i], without @ answers[:, i], rtol=1e-4)


def by_hand(answers, targets):
    losses = np.empty(answers.shape[:2])
    if targets.dtype.kind == "f":
        variance = np.mean((answers.mean(axis=0)[:, 0] - targets) ** 2)
    for o, of_other in enumerate(answers):
        for i, answer in enumerate(of_other):
            if targets.dtype.kind == "f":
                losses[o, i] = (answer[0] - targets[i]) ** 2 / (2 * variance)
            else:
                share = table_others.DOUBT / len(answer)
                losses[o, i] = -np.log((1 - table_others.DOUBT) * answer[targets[i]] + share)
    return losses


def softmax(values):
    powers = np.exp(values - values.max())
    return powers / powers.sum()


@each_model
def test_a_rows_own_target_says_nothing_about_the_answer_to_it(make, target):
    known = asking(make, target).knowledge_
    rows = known.memory["lyon"]
    oslo, pisa = (known.forests[other].answers(rows.X)[:, 0] for other in ("oslo", "pisa"))
    row = int(np.abs(oslo - pisa).argmax())
    targets = rows.targets.copy()
    targets[row] = targets[targets != targets[row]][0]
    changed = replace(rows, targets=targets)
    channels = [
        ask_others(replace(known, memory={**known.memory, "lyon": found}), ["lyon"]).channels
        for found in (rows, changed)
    ]
    before, after = (found["lyon"] for found in channels)
    assert not np.array_equal(before.shares, after.shares)
    if target == "ill":  # errors of numbers are in units of the error of their mean: a bit moves
        np.testing.assert_allclose(before.held_out[1, row], after.held_out[1, row], rtol=1e-5)


def test_a_task_listens_most_to_the_other_that_is_like_it():
    sites = ("a", "b", "not a", "not b")
    frame = table(60, sites)
    answer = np.where(frame.ill == "yes", "no", "yes")
    frame["ill"] = np.where(frame.site.str.startswith("not"), answer, frame.ill)
    channels = asking(classifier, "ill", frame).knowledge_.channels
    for task, like in (("a", "b"), ("b", "a"), ("not a", "not b")):
        mix = channels[task]
        assert mix.shares[mix.others.index(like)] > 0.8


def test_rows_of_one_class_make_all_others_count_alike():
    frame = FRAME[(FRAME.site != "pisa") | (FRAME.ill == "yes")]
    mix = asking(classifier, "ill", frame).knowledge_.channels["pisa"]
    assert mix.others == ("lyon", "oslo")
    assert mix.shares is None


def test_others_with_a_label_in_common_are_asked_and_no_others():
    frame = FRAME.assign(ill=np.where(FRAME.site == "pisa", "label of pisa", FRAME.ill))
    channels = asking(classifier, "ill", frame).knowledge_.channels
    assert channels["lyon"].others == ("oslo",)
    assert channels["pisa"].others == ()


def test_answers_are_probabilities_for_known_and_unseen_tasks_and_for_one_of_one_label():
    lonely = (FRAME.site != "pisa") | (FRAME.ill == "yes")
    model = asking(classifier, "ill", FRAME[lonely])
    for frame in (NEW, NEW.assign(site="never seen")):
        found = model.predict_proba(frame)
        np.testing.assert_allclose(found.sum(axis=1), 1)
    of_pisa = model.predict_proba(NEW[NEW.site == "pisa"])
    assert of_pisa[:, 0].max() > 0.5  # "no", which pisa has never shown and the others know


@each_model
def test_a_model_that_asks_others_is_saved_and_renamed(make, target, tmp_path):
    model = asking(make, target)
    before = answers(model, NEW)
    save(model, tmp_path / "model")
    np.testing.assert_array_equal(answers(load(tmp_path / "model"), NEW), before)
    model.rename("lyon", "paris")
    renamed = NEW.assign(site=NEW.site.replace("lyon", "paris"))
    np.testing.assert_array_equal(answers(model, renamed), before)


@each_model
def test_what_is_shared_can_be_changed_between_lessons(make, target):
    more = table(seed=2)
    model = asking(make, target)
    for shared in (False, None, True, None):
        model.set_params(shared=shared).partial_fit(inputs(more), more[target])
        known = model.knowledge_
        assert (known.shared is not None) == (shared is True)
        assert known.asks_others == (shared is None)
        assert np.isfinite(answers(model, NEW)).all()


def test_of_many_others_a_fixed_number_is_asked(monkeypatch):
    monkeypatch.setattr(table_others, "MOST_OTHERS", 10)
    sites = tuple(f"site {number:02d}" for number in range(14))
    model = asking(classifier, "ill", table(4, sites))
    known = model.knowledge_
    asked = [mix.others for mix in known.channels.values()]
    assert {len(others) for others in asked} == {10}
    assert all(task not in mix.others for task, mix in known.channels.items())
    assert len(set(table_others.asked_by_unknown(known))) == 10
    assert np.isfinite(model.predict_proba(NEW.assign(site="never seen"))).all()


def test_of_up_to_32_others_all_trees_are_asked_and_of_more_as_many_together():
    asked = {n: table_others.trees_asked(100, n) for n in (1, 32, 64, 320)}
    assert asked == {1: 100, 32: 100, 64: 50, 320: 10}
    assert table_others.trees_asked(10, 320) == 10
    assert table_others.trees_asked(4, 320) == 4


def test_groups_of_tasks_choose_as_each_task_alone_does(monkeypatch):
    sites = tuple(f"site {number}" for number in range(8))
    known = asking(classifier, "ill", table(10, sites)).knowledge_
    monkeypatch.setattr(table_others, "_NUMBERS_AT_ONCE", 1)
    alone = ask_others(known, list(known.tasks)).channels
    for task, mix in known.channels.items():
        np.testing.assert_array_equal(mix.held_out[:3], alone[task].held_out)
        np.testing.assert_array_equal(mix.shares, alone[task].shares)
        np.testing.assert_array_equal(mix.linear_shares, alone[task].linear_shares)


@each_model
def test_a_model_from_before_shares_were_kept_loads_and_counts_all_alike(make, target, tmp_path):
    model = asking(make, target)
    known = model.knowledge_
    channels = {task: replace(mix, shares=None) for task, mix in known.channels.items()}
    model.knowledge_ = replace(known, channels=channels)
    save(model, tmp_path / "model")
    loaded = load(tmp_path / "model")
    np.testing.assert_array_equal(answers(loaded, NEW), answers(model, NEW))
    X = known.memory["lyon"].X
    mean = np.mean([known.forests[other].answers(X) for other in ("oslo", "pisa")], axis=0)
    np.testing.assert_allclose(mean_of_others(known, X, ("oslo", "pisa")), mean)


def test_without_a_task_the_other_shares_stay_in_proportion():
    sites = ("a", "b", "c", "d")
    before = asking(classifier, "ill", table(20, sites)).knowledge_.channels["a"]
    after = before.without_other("c")
    assert after.others == ("b", "d")
    np.testing.assert_allclose(after.shares, before.shares[[0, 2]] / before.shares[[0, 2]].sum())
    assert before.without_other("not there") is before


def test_after_forgetting_a_task_all_others_choose_anew():
    sites = ("a", "b", "c", "d")
    model = asking(classifier, "ill", table(20, sites))
    model.forget("c")
    known = model.knowledge_
    fresh = ask_others(known, list(known.tasks)).channels
    for task, mix in known.channels.items():
        assert set(mix.others) == {"a", "b", "d"} - {task}
        np.testing.assert_array_equal(mix.shares, fresh[task].shares)
        np.testing.assert_array_equal(mix.held_out[1], fresh[task].held_out[1])


def test_all_tasks_choose_anew_when_there_are_twice_and_later_four_times_as_many(monkeypatch):
    monkeypatch.setattr(table_others, "MOST_OTHERS", 3)
    monkeypatch.setattr(table_learning, "MOST_OTHERS", 3)
    asked_at = []
    model = classifier(shared=None, n_estimators=1)
    for number in range(18):
        frame = table(4, (f"site {number}",), seed=number)
        model.partial_fit(inputs(frame), frame.ill)
        asked_at.append(model.knowledge_.asked_at[0])
    assert sorted(set(asked_at)) == [1, 2, 4, 16]


@each_model
def test_answers_do_not_depend_on_threads_nor_on_how_many_rows_are_asked(make, target):
    model = asking(make, target)
    expected = answers(model, NEW)
    np.testing.assert_array_equal(
        answers(make(shared=None, n_jobs=2).fit(inputs(FRAME), FRAME[target]), NEW), expected
    )
    np.testing.assert_array_equal(answers(model, NEW[:1]), expected[:1])


def evidence_where_the_first_is_right(n):
    sure = np.log([0.9, 0.1])
    wrong = np.log([0.2, 0.8])
    rng = np.random.default_rng(0)
    noise = 0.1 * rng.normal(size=(2, n, 2))
    opinions = np.stack([np.tile(sure, (n, 1)), np.tile(wrong, (n, 1))]) + noise
    return Evidence(opinions, np.zeros(n, dtype=np.int64), np.ones(n))


def test_one_opinion_that_is_clearly_better_than_the_mix_answers_alone():
    evidence = evidence_where_the_first_is_right(LEAST_ROWS)
    mix = np.array([0.5, 0.5])
    np.testing.assert_array_equal(no_harm(evidence, mix, "classes"), [1, 0])
    good = np.array([1.5, 0.0])
    np.testing.assert_array_equal(no_harm(evidence, good, "classes"), good)


def test_few_rows_say_nothing_about_harm():
    mix = np.array([0.5, 0.5])
    np.testing.assert_array_equal(
        no_harm(evidence_where_the_first_is_right(LEAST_ROWS - 1), mix, "classes"), mix
    )


def test_explain_compares_the_mix_with_the_best_opinion():
    model = classifier().fit(inputs(FRAME), FRAME.ill)
    explained = model.explain(task="lyon")
    mix = model.knowledge_.channels["lyon"]
    assert explained.margin[0] == pytest.approx(mix.losses[:-1].min() - mix.losses[-1], abs=1e-6)
    assert explained.best[0] == explained.opinions[int(mix.losses[:-1].argmin())]
    assert "best minus mix" in str(explained)


def test_a_comparison_of_no_rows_is_none():
    empty = Evidence(np.zeros((2, 0, 2)), np.zeros(0, dtype=np.int64), np.zeros(0))
    assert compared(empty, np.ones(2), "classes") is None
