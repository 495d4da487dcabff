"""What every reference and control does, whatever its algorithm."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.base import clone
from tiny_references import FACTORIES, N_CLASSES, TINY, stream_for, taught, teach, tiny

from lifelong import TaskStream, evaluate
from lifelong.exceptions import InputError

NAMES = list(FACTORIES)
NETWORKS = [name for name in NAMES if FACTORIES[name].trains_network]
SIXTEEN = (
    "none ewc o-ewc si lwf total-replay partial-replay er a-gem tag prognn df-cnn lmc model-zoo"
    " coscl randumb"
)
KEEP_ROWS = ("total-replay", "partial-replay", "er", "a-gem", "model-zoo", "single", "rf")


@pytest.fixture
def stream(name: str) -> TaskStream:
    return stream_for(name)


def test_the_table_has_the_sixteen_of_the_paper_and_both_controls_and_may_have_more() -> None:
    design = [*SIXTEEN.split(), "single", "rf"]
    assert [name for name in NAMES if name in design] == design
    assert {"randumb", "rf"} == {name for name in design if name not in NETWORKS}
    assert {name for name in design if FACTORIES[name].keeps_rows} == {*KEEP_ROWS}


@pytest.mark.parametrize("name", NAMES)
def test_each_task_is_learnt_well_above_chance_when_it_arrives(
    name: str, stream: TaskStream
) -> None:
    learner = tiny(name)
    for task in stream:
        learner.partial_fit(task.X_train, task.y_train, task=task.name)
        assert (
            learner.score(task.X_test, task.y_test, task=task.name)
            > 1 / N_CLASSES[str(task.name)] + 0.2
        )


@pytest.mark.parametrize("name", NETWORKS)
def test_the_recipe_decides_on_the_precision_of_training(name: str, stream: TaskStream) -> None:
    half = replace(TINY[name]["recipe"], precision="bfloat16")
    learner = teach(tiny(name, recipe=half), stream)
    full = taught(name)
    last = stream[-1]
    scores = [taught.score(last.X_test, last.y_test, task=last.name) for taught in (learner, full)]
    assert scores[0] > scores[1] - 0.15
    posteriors = [taught.predict_proba(last.X_test, last.name) for taught in (learner, full)]
    assert (posteriors[0] != posteriors[1]).any()


@pytest.mark.parametrize("name", NAMES)
def test_the_same_seed_gives_the_same_bits_and_another_seed_does_not(
    name: str, stream: TaskStream
) -> None:
    first = taught(name)
    same = teach(tiny(name), stream)
    other = tiny(name, 1)
    task = stream[0]
    np.testing.assert_array_equal(
        first.predict_proba(task.X_test, "first"), same.predict_proba(task.X_test, "first")
    )
    first, second = (
        learner.partial_fit(task.X_train, task.y_train, task="first").predict_proba(task.X_test)
        for learner in (tiny(name), other)
    )
    assert (first != second).any()


@pytest.mark.parametrize("name", NAMES)
def test_posteriors_fit_the_heads_sum_to_one_and_do_not_depend_on_the_company(
    name: str, stream: TaskStream
) -> None:
    learner = taught(name)
    for task in stream:
        posteriors = learner.predict_proba(task.X_test, task.name)
        assert posteriors.shape == (len(task.X_test), N_CLASSES[str(task.name)])
        assert posteriors.dtype == np.float64
        np.testing.assert_allclose(posteriors.sum(axis=1), 1, atol=1e-5)
        alone = [learner.predict_proba(row[None], task.name)[0] for row in task.X_test[:5]]
        np.testing.assert_allclose(alone, posteriors[:5], atol=1e-5)


@pytest.mark.parametrize("name", NAMES)
def test_a_failing_partial_fit_leaves_the_learner_as_it_was(name: str, stream: TaskStream) -> None:
    learner = teach(tiny(name), stream[:2])
    before = [learner.predict_proba(task.X_test, task.name) for task in stream[:2]]
    sizes = learner.sizes()
    third = stream[2]
    if name in NETWORKS:  # fails in the middle of a round
        good = learner.get_params()["recipe"]
        for task in ("first", "third"):
            with pytest.raises(AttributeError):
                learner.set_params(recipe="broken").partial_fit(
                    third.X_train, third.y_train, task=task
                )
        learner.set_params(recipe=good)
    with pytest.raises(InputError):
        learner.partial_fit(third.X_train[:, :1], third.y_train, task="third")
    assert list(learner.tasks_) == ["first", "second"]
    assert learner.sizes() == sizes
    for task, posteriors in zip(stream[:2], before, strict=True):
        np.testing.assert_array_equal(learner.predict_proba(task.X_test, task.name), posteriors)


@pytest.mark.parametrize("name", NAMES)
def test_a_known_task_takes_in_more_rows_and_a_new_class(name: str, stream: TaskStream) -> None:
    learner = teach(tiny(name), stream[:2])
    task = stream[0]
    other = np.where(task.y_train == "first-0", "first-new", task.y_train)
    learner.partial_fit(task.X_train, other, task="first")
    assert learner.classes_of("first").tolist() == ["first-0", "first-1", "first-2", "first-new"]
    posteriors = learner.predict_proba(task.X_test, "first")
    assert posteriors.shape[1] == 4
    np.testing.assert_allclose(posteriors.sum(axis=1), 1, atol=1e-5)
    assert learner.score(task.X_test, task.y_test, task="first") > 0.4
    learner.partial_fit(stream[2].X_train, stream[2].y_train, task="third")
    assert learner.predict_proba(task.X_test, "third").shape[1] == 4


@pytest.mark.parametrize("name", NAMES)
def test_parameters_are_stored_as_given_and_survive_cloning(name: str) -> None:
    learner = tiny(name)
    assert {key: learner.get_params()[key] for key in TINY[name]} == TINY[name]
    assert clone(learner).get_params() == learner.get_params()


@pytest.mark.parametrize("name", NAMES)
def test_sizes_count_what_grows(name: str, stream: TaskStream) -> None:
    first = teach(tiny(name), stream[:1]).sizes()
    last = taught(name).sizes()
    assert set(first) == set(last) == {"parameters", "encoders", "channels", "rows"}
    assert first["channels"] < last["channels"]
    assert first["parameters"] < last["parameters"]
    assert (last["rows"] > 0) == FACTORIES[name].keeps_rows


@pytest.mark.parametrize("name", ["none", "randumb", "rf"])
def test_evaluate_takes_references_as_they_are(name: str, stream: TaskStream) -> None:
    table = evaluate(lambda seed: tiny(name, seed), stream, 1)
    np.testing.assert_allclose(table.transfer, table.forward_transfer + table.backward_transfer)
    assert (table.reference_accuracy > 0.4).all()


@pytest.mark.parametrize("name", [name for name in NETWORKS if name != "df-cnn"])
def test_images_are_read_by_the_base_cnn(name: str, images: TaskStream) -> None:
    parameters = {"network": "auto", "width": 0.05, **({"recipe": TINY[name]["recipe"]})}
    learner = tiny(name, **parameters)
    task = images[0]
    learner.partial_fit(task.X_train, task.y_train, task=task.name)
    assert learner.predict_proba(task.X_test, task.name).shape == (len(task.X_test), 3)
