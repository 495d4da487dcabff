"""``shared=None``: no row is shared, tasks ask each other's forests; and the rule of no harm."""

import numpy as np
import pytest
from small_tables import MODELS, answers, classifier, inputs, table

from lifelong import load, save
from lifelong.channels.stacking import Evidence
from lifelong.learners import table_others
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
        assert len(mix.weights) == 2
        forests = [known.forests[other].answers(known.memory[task].X) for other in mix.others]
        np.testing.assert_allclose(mix.held_out[1], np.mean(forests, axis=0), rtol=1e-5)


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


def test_of_many_others_a_fixed_number_is_asked():
    sites = tuple(f"site {number:02d}" for number in range(table_others.MOST_OTHERS + 4))
    model = asking(classifier, "ill", table(4, sites))
    asked = [mix.others for mix in model.knowledge_.channels.values()]
    assert {len(others) for others in asked} == {table_others.MOST_OTHERS}
    assert all(task not in mix.others for task, mix in model.knowledge_.channels.items())


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
