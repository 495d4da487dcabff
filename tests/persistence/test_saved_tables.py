"""Models of tables on disk: bit for bit the same, and no file can make them do harm."""

import json
import random

import numpy as np
import pandas as pd
import pytest
from fuzzing import put
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mutations import exchange, join, mutate, read, seal, split, unseal
from saved_tables import answers, classifier, frame, outcome, regressor, same, targets, taught

from lifelong import load, save
from lifelong.encoders import boosted
from lifelong.exceptions import PersistenceError

MODELS = {"classifier": classifier, "regressor": regressor}
each_model = pytest.mark.parametrize("make", MODELS.values(), ids=MODELS)


@pytest.fixture(scope="module", params=MODELS.values(), ids=MODELS)
def saved(request, tmp_path_factory):
    """A model with everything in it, boosted trees on few rows included, and its files."""
    folder = tmp_path_factory.mktemp("tables")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(boosted, "MIN_ROWS", 20)
        model = taught(request.param())
    assert model.knowledge_.shared.boosted is not None
    save(model, folder)
    return model, read(folder)


@pytest.fixture
def write(tmp_path):
    def write(files):
        for path in tmp_path.iterdir():
            path.unlink()
        put(tmp_path, files, {})
        return tmp_path

    return write


# There and back again


@each_model
def test_a_model_comes_back_bit_for_bit_and_goes_on_as_if_nothing_had_happened(make, tmp_path):
    model = taught(make())
    save(model, tmp_path)
    again = load(tmp_path)
    assert same(model, again)
    for seed in (11, 12, 13):  # into leaves, new forests, a new shared encoder
        more = frame(25, seed=seed).assign(colour=["red", None] * 12 + ["blue"])
        for one in (model, again):
            one.partial_fit(more, targets(more, model))
        assert same(model, again)
    save(again, tmp_path)
    assert same(model, load(tmp_path))


@each_model
@pytest.mark.parametrize("shared", [True, False])
def test_one_task_and_tasks_that_share_nothing_come_back(make, shared, tmp_path):
    one = frame().assign(site="lyon")
    model = make(shared=shared).fit(one, targets(one, make()))
    save(model, tmp_path / "one")
    assert same(model, load(tmp_path / "one"))
    model = taught(make(shared=shared))
    save(model, tmp_path / "several")
    assert same(model, load(tmp_path / "several"))


@each_model
def test_renamed_and_forgotten_tasks_are_so_on_disk(make, tmp_path):
    model = taught(make())
    save(model, tmp_path)
    model.rename("oslo", "bergen").forget("pisa")
    save(model, tmp_path)
    assert same(model, load(tmp_path))
    content = b"".join(read(tmp_path).values())
    assert b"pisa" not in content
    assert b"oslo" not in content


def test_rows_without_a_held_out_answer_can_be_saved(tmp_path):
    table = frame(4)
    model = classifier().set_params(n_estimators=1).fit(table, ["a", "b", "a", "b"])
    assert np.isnan(next(iter(model.knowledge_.channels.values())).held_out).any()
    save(model, tmp_path)
    assert same(model, load(tmp_path))


@pytest.mark.parametrize("weight", ["balanced", {"yes": 2.0, "no": 0.5}])
def test_class_weights_come_back(weight, tmp_path):
    model = taught(classifier(class_weight=weight))
    save(model, tmp_path)
    assert load(tmp_path).class_weight == weight
    assert same(model, load(tmp_path))


@pytest.mark.parametrize(
    "labels", [[True, False], [0, 1], [2.0, 3.0], ["ja", "nein"], ["a", 1], ["ü", None]]
)
def test_labels_of_any_kind_come_back_as_they_are(labels, tmp_path):
    table = frame()
    y = np.empty(len(table), dtype=object)
    y[:] = [labels[row % 2] for row in range(len(table))]
    if len({type(label) for label in labels}) == 1:
        y = np.array(y.tolist())
    if None in labels:
        y = y.tolist()
        y = ["none" if label is None else label for label in y]
    model = classifier().fit(table, y)
    save(model, tmp_path)
    again = load(tmp_path)
    assert again.classes_.dtype == model.classes_.dtype
    assert again.classes_.tolist() == model.classes_.tolist()
    assert again.predict(table).tolist() == model.predict(table).tolist()


def test_categories_of_every_kind_come_back(tmp_path):
    table = frame().assign(mixed=pd.Series([1, "a", 2.5, None] * 10, dtype=object))
    model = classifier().fit(table, targets(table, classifier()))
    assert model.columns_.by_name["mixed"].categories == (1, "a", 2.5)
    save(model, tmp_path)
    assert load(tmp_path).columns_ == model.columns_


# Damage and malice


@settings(max_examples=50, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(number=st.integers(0, 10**9))
def test_mutated_models_are_refused_or_work(saved, tmp_path_factory, number):
    folder = tmp_path_factory.mktemp("mutated")
    files = mutate(saved[1], random.Random(number))
    put(folder, files, {})
    size = sum(map(len, files.values()))
    outcome(folder, memory=4 * size + 4_000_000 if number % 4 == 0 else None)


@pytest.mark.parametrize("seed", range(15))
def test_a_changed_byte_anywhere_is_noticed(saved, write, seed):
    chance = random.Random(seed)
    files = dict(saved[1])
    name = chance.choice(sorted(files))
    spoiled = bytearray(files[name])
    spoiled[chance.randrange(len(spoiled))] ^= 1 << chance.randrange(8)
    with pytest.raises(PersistenceError):
        load(write({**files, name: bytes(spoiled)}))


def every_number(node, path=()):
    """Where whole numbers, flags and fractions stand in a structure."""
    pairs = []
    if isinstance(node, dict):
        pairs = list(node.items())
    elif isinstance(node, list):
        pairs = list(enumerate(node))
    for key, value in pairs:
        if isinstance(value, bool | int | float):
            yield (*path, key)
        yield from every_number(value, (*path, key))


def with_value(node, path, value):
    copied = json.loads(json.dumps(node))
    inside = copied
    for key in path[:-1]:
        inside = inside[key]
    inside[path[-1]] = value
    return copied


def test_any_number_of_any_structure_may_be_any_other(saved, write):
    """Checksums made to fit: an error, or a model that answers; never a crash."""
    files = saved[1]
    n_tried = 0
    for name in sorted(files):
        if name == "manifest.json":
            continue
        header, data = split(files[name])
        structure = json.loads(header["__metadata__"]["lifelong"])
        for path in every_number(structure):
            for value in (0, 2**40):
                changed = with_value(structure, path, value)
                header["__metadata__"]["lifelong"] = json.dumps(changed)
                wanted = write(exchange(dict(files), name, join(header, data)))
                outcome(wanted, learns=value == 0)
                n_tried += 1
    assert n_tried > 20


DTYPES = {"I32": np.int32, "I64": np.int64, "F64": np.float64, "F32": np.float32, "U8": np.uint8}


def with_numbers(files, name, array, change):
    """The files with one array changed, checksums made to fit."""
    header, data = split(files[name])
    start, stop = header[array]["data_offsets"]
    numbers = np.frombuffer(data[start:stop], DTYPES[header[array]["dtype"]]).copy()
    change(numbers)
    return exchange(dict(files), name, join(header, data[:start] + numbers.tobytes() + data[stop:]))


def test_any_array_may_hold_any_number(saved, write):
    files = saved[1]
    n_tried = 0
    for name in sorted(files):
        if name == "manifest.json":
            continue
        for array in split(files[name])[0]:
            if array == "__metadata__":
                continue
            for value in (-1, 10**6):

                def change(numbers, value=value):
                    if len(numbers):
                        numbers[0] = np.array(value).astype(numbers.dtype)

                wanted = write(with_numbers(files, name, array, change))
                outcome(wanted, learns=value > 0)
                n_tried += 1
    assert n_tried > 50


def file_with(files, array):
    return next(
        name for name in sorted(files) if name != "manifest.json" and array in split(files[name])[0]
    )


@pytest.mark.parametrize(
    ("array", "value"),
    [
        ("value.forest.forest.left", 0),  # a loop
        ("value.forest.forest.left", 10**6),  # out of the tree
        ("value.forest.forest.feature", 1000),  # a column that no row has
        ("value.forest.forest.feature", -5),
        ("value.forest.forest.nodes", 2**40),
        ("value.forest.row_ends", 5),
        ("value.forest.columns", 17),
        ("value.linear.view.kept", 10**6),
        ("value.linear.view.missing", 10**6),
        ("value.linear.view.scale", 0),
        ("value.measured", 10**6),
        ("value.boosted.forest.left", 10**6),
        ("value.boosted.forest.feature", 1000),
        ("value.X", np.inf),
        ("value.weights", -1),
        ("value.held_out", np.inf),
    ],
)
def test_no_file_leads_out_of_rows_and_arrays(saved, write, array, value):
    def change(numbers):
        numbers[0] = value

    files = saved[1]
    with pytest.raises(PersistenceError):
        load(write(with_numbers(files, file_with(files, array), array, change)))


@pytest.fixture(scope="module", params=MODELS.values(), ids=MODELS)
def asking(request, tmp_path_factory):
    """A model whose tasks ask each other, and its files."""
    folder = tmp_path_factory.mktemp("asking")
    model = taught(request.param(shared=None))
    assert any(mix.correction is not None for mix in model.knowledge_.channels.values())
    save(model, folder)
    return model, read(folder)


@pytest.mark.parametrize(
    ("array", "value"),
    [
        ("value.linear.view.kept", 10**6),
        ("value.linear.view.missing", 10**6),
        ("value.linear.slopes", np.inf),
        ("value.correction.view.kept", 10**6),
        ("value.correction.view.scale", 0),
        ("value.correction.slopes", np.nan),
        ("value.linear_shares", -1),
    ],
)
def test_no_linear_model_of_others_and_no_correction_leads_out_of_rows(asking, write, array, value):
    def change(numbers):
        numbers[0] = value

    files = asking[1]
    with pytest.raises(PersistenceError):
        load(write(with_numbers(files, file_with(files, array), array, change)))


def test_any_array_of_a_model_that_asks_others_may_hold_any_number(asking, write):
    files = asking[1]
    n_tried = 0
    for name in sorted(files):
        if name == "manifest.json":
            continue
        for array in split(files[name])[0]:
            if not array.startswith(("value.linear", "value.correction")):
                continue
            for value in (-1, 10**6):

                def change(numbers, value=value):
                    if len(numbers):
                        numbers[0] = np.array(value).astype(numbers.dtype)

                outcome(write(with_numbers(files, name, array, change)), learns=value > 0)
                n_tried += 1
    assert n_tried > 20


@pytest.mark.parametrize(
    "change",
    [
        lambda state: state.update(asks_linear=False),
        lambda state: state.update(asks_others=False),
        lambda state: state.update(unseen=[1.0]),
        lambda state: state.update(unseen=[0.5, 0.5, 0.5]),
        lambda state: state["common"].pop(),
    ],
)
def test_a_manifest_with_other_opinions_of_others_is_refused(asking, write, change):
    with pytest.raises(PersistenceError):
        load(write(changed(asking[1], lambda manifest: change(manifest["state"]))))


def test_a_model_that_asks_others_goes_on_learning_after_it_was_saved(asking, write):
    again = load(write(asking[1]))
    assert same(asking[0], again)
    for seed in (11, 12):
        more = frame(25, seed=seed)
        for one in (asking[0], again):
            one.partial_fit(more, targets(more, one))
        assert same(asking[0], again)


def changed(files, change):
    node = unseal(files["manifest.json"])
    change(node)
    return {**files, "manifest.json": seal(node)}


MANIFESTS = {
    "rows of another shape": lambda m: m.update(in_shape=[*m["in_shape"], 1, 1]),
    "larger images": lambda m: m.update(in_shape=[m["in_shape"][0], 5, 5]),
    "wider rows": lambda m: m.update(in_shape=[m["in_shape"][0] + 1]),
    "a column less": lambda m: m["state"]["columns"]["columns"].pop(),
    "a column twice": lambda m: m["state"]["columns"]["columns"][1].update(
        name=m["state"]["columns"]["columns"][0]["name"]
    ),
    "a category twice": lambda m: m["state"]["columns"]["columns"][1].update(categories=["a", "a"]),
    "categories of numbers": lambda m: m["state"]["columns"]["columns"][0].update(categories=["a"]),
    "too many categories": lambda m: m["state"]["columns"]["columns"][1].update(
        categories=[str(number) for number in range(2000)]
    ),
    "a kind that is none": lambda m: m["state"]["columns"]["columns"][0].update(kind="image"),
    "weights of other opinions": lambda m: m["state"]["common"].append(0.5),
    "negative weights": lambda m: m["state"]["unseen"].__setitem__(0, -0.5),
    "a label less": lambda m: m["state"]["labels"]["values"].pop(),
    "another label": lambda m: m["state"]["labels"]["values"].__setitem__(0, "other"),
    "other counts": lambda m: m["tasks"][0]["class_counts"].__setitem__(
        0, m["tasks"][0]["class_counts"][0] + 1
    ),
    "a channel less": lambda m: m["state"]["channels"].pop(),
    "rows of another task": lambda m: m["state"]["memory"][0].__setitem__(
        1, m["state"]["memory"][1][1]
    ),
    "a channel of another task": lambda m: m["state"]["channels"][0].__setitem__(
        1, m["state"]["channels"][1][1]
    ),
    "no shared encoder": lambda m: m["state"].update(shared=None),
}


@pytest.mark.parametrize("what", MANIFESTS)
def test_a_manifest_that_does_not_fit_is_refused(saved, write, what):
    with pytest.raises(PersistenceError):
        load(write(changed(saved[1], MANIFESTS[what])))


def test_a_model_is_not_read_as_one_of_the_other_kind(saved, write):
    other = {"LifelongClassifier": "LifelongRegressor", "LifelongRegressor": "LifelongClassifier"}

    def exchanged(manifest):
        manifest["learner"] = other[manifest["learner"]]
        manifest["parameters"].pop("class_weight", None)

    with pytest.raises(PersistenceError):
        load(write(changed(saved[1], exchanged)))


def test_a_model_that_was_saved_is_what_was_measured(saved, write):
    again = load(write(saved[1]))
    assert same(saved[0], again)
    assert answers(again, frame(3, seed=9)).shape[0] == 3
