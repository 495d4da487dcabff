"""``precision="auto"``: one of the two precisions, decided once, and nothing between them."""

from collections.abc import Iterator

import numpy as np
import pytest
from torch import nn

from lifelong import NetworkEncoder, Recipe, SillyNetwork, load, save
from lifelong.nets import precision
from lifelong.nets.precision import half_is_faster, settled

ALWAYS, NEVER = np.inf, 0.0


@pytest.fixture(autouse=True)
def _decided_anew() -> Iterator[None]:
    half_is_faster.cache_clear()
    yield
    half_is_faster.cache_clear()


@pytest.mark.parametrize("name", ["float32", "bfloat16"])
def test_a_precision_that_is_named_is_never_changed(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(precision, "ENOUGH_WEIGHTS", 0)
    for clearly in (ALWAYS, NEVER):
        half_is_faster.cache_clear()
        monkeypatch.setattr(precision, "_CLEARLY", clearly)
        recipe = Recipe(precision=name)  # type: ignore[arg-type]
        assert settled(recipe, nn.Linear(2, 2)) is recipe


@pytest.mark.parametrize(("n_weights", "expected"), [(12, "float32"), (20, "bfloat16")])
def test_small_networks_stay_in_full_precision(
    n_weights: int, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(precision, "_CLEARLY", ALWAYS)
    monkeypatch.setattr(precision, "ENOUGH_WEIGHTS", 20)
    model = nn.Linear(n_weights, 1, bias=False)
    assert settled(Recipe(precision="auto"), model).precision == expected


def test_a_processor_that_is_not_faster_trains_in_full_precision(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(precision, "_CLEARLY", NEVER)
    monkeypatch.setattr(precision, "ENOUGH_WEIGHTS", 0)
    assert settled(Recipe(precision="auto"), nn.Linear(2, 2)).precision == "float32"


def test_the_processor_decides_the_same_every_time() -> None:
    decisions = set()
    for _ in range(10):
        half_is_faster.cache_clear()
        decisions.add(half_is_faster())
    assert len(decisions) == 1


@pytest.mark.parametrize(("clearly", "name"), [(ALWAYS, "bfloat16"), (NEVER, "float32")])
@pytest.mark.parametrize("weighted", [False, True])
def test_auto_trains_the_network_of_what_it_decides_bit_for_bit(
    clearly: float, name: str, weighted: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(precision, "_CLEARLY", clearly)
    monkeypatch.setattr(precision, "ENOUGH_WEIGHTS", 0)
    rng = np.random.default_rng(0)
    X = rng.random((40, 3, 8, 8), dtype=np.float32)
    y = np.arange(40) % 4
    weights = rng.random(40) if weighted else None
    auto, named, other = (
        NetworkEncoder("cnn", width=0.1, recipe=Recipe(iterations=4, precision=chosen))  # type: ignore[arg-type]
        .fit(X, y, rng=np.random.default_rng(1), weights=weights)
        .encode(X)
        for chosen in ("auto", name, {"bfloat16": "float32", "float32": "bfloat16"}[name])
    )
    np.testing.assert_array_equal(auto, named)
    assert not np.array_equal(auto, other)


def test_what_was_trained_with_auto_answers_the_same_where_the_processor_decides_otherwise(
    tmp_path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(precision, "_CLEARLY", ALWAYS)
    monkeypatch.setattr(precision, "ENOUGH_WEIGHTS", 0)
    rng = np.random.default_rng(0)
    X = rng.random((40, 6), dtype=np.float32)
    learner = SillyNetwork.best(network=(8,), epochs=2, random_state=0)
    learner.partial_fit(X, np.arange(40) % 2, task="a")
    answers = learner.predict_proba(X, task="a")
    save(learner, tmp_path / "saved")
    half_is_faster.cache_clear()
    monkeypatch.setattr(precision, "_CLEARLY", NEVER)
    loaded = load(tmp_path / "saved")
    assert loaded.training_recipe().precision == "auto"
    np.testing.assert_array_equal(loaded.predict_proba(X, task="a"), answers)


def test_the_paper_and_the_default_stay_in_full_precision() -> None:
    for recipe in (Recipe(), Recipe.paper(), Recipe.paper(keras=True)):
        assert recipe.precision == "float32"
