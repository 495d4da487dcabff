"""How much memory and time a file can make a reader spend, before and after it is loaded."""

import json
import tracemalloc

import numpy as np
import pytest
from fuzzing import put
from hypothesis import given, settings
from hypothesis import strategies as st
from mutations import exchange, read, seal, unseal
from small import QUICK, forest, rows, taught

from lifelong import SillyNetwork, load, save
from lifelong.exceptions import PersistenceError
from lifelong.persistence.arrays import pack, unpack
from lifelong.persistence.text import MAX_DEPTH, MAX_JSON, Unfit, check_modest, from_json
from lifelong.references import CONTROLS

SIZE = 1_200_000
HOSTILE = {
    "empty lists": b"[" + b"[]," * (SIZE // 3) + b"1]",
    "lists of one": b"[" + b"[1]," * (SIZE // 4) + b"1]",
    "objects": b"[" + b'{"a":1},' * (SIZE // 8) + b"1]",
    "longer objects": b"[" + b'{"a":1,"b":123},' * (SIZE // 16) + b"1]",
    "shortest objects": b"[" + b'{"":1},' * (SIZE // 7) + b"1]",
    "empty objects": b"[" + b"{}," * (SIZE // 3) + b"1]",
    "small numbers": b"[" + b"300," * (SIZE // 4) + b"1]",
    "fractions": b"[" + b".5e1,".replace(b".", b"0.") * (SIZE // 6) + b"1]",
    "short texts": b"[" + b'"ab",' * (SIZE // 5) + b"1]",
    "texts in lists": b"[" + b'["abc"],' * (SIZE // 8) + b"1]",
    "keys": b"{" + b",".join(b'"%d":[]' % n for n in range(SIZE // 10)) + b"}",
    "depth": b"[" * 5000 + b"]" * 5000,
    "depth in objects": b'{"a":' * 5000 + b"1" + b"}" * 5000,
}


@pytest.mark.parametrize("how", HOSTILE)
def test_json_takes_at_most_25_times_its_bytes(how):
    text = HOSTILE[how]
    tracemalloc.start()
    try:
        from_json(text)
    except Unfit:
        pass
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peak < 25 * len(text) + 1_000_000


def test_json_that_is_too_long_is_not_parsed(tmp_path):
    save(taught(forest(), 1), tmp_path)
    with pytest.raises(Unfit, match="is the limit"):
        check_modest(bytes(MAX_JSON + 1))
    with (tmp_path / "manifest.json").open("ab") as manifest:
        manifest.truncate(MAX_JSON + 1)
    with pytest.raises(PersistenceError, match="too large for a manifest"):
        load(tmp_path)


@given(st.text(alphabet='[]{}"\\,:a', max_size=40))
@settings(max_examples=200, deadline=None)
def test_brackets_in_texts_are_not_counted(text):
    node = [text, {text: [text]}]
    assert from_json(json.dumps(node).encode()) == node
    quoted = json.dumps([text * 20] * 50).encode()
    assert from_json(quoted) == [text * 20] * 50


def test_our_own_texts_are_far_from_the_limits(tmp_path):
    learner = taught(forest(channel="ridge"), 12)
    for number in range(12):
        learner.rename(f"task-{number}", number)
    save(learner, tmp_path)
    for path in tmp_path.iterdir():
        content = path.read_bytes()
        if path.suffix == ".json":
            text = content
        elif path.suffix == ".safetensors":
            text = content[8 : 8 + int.from_bytes(content[:8], "little")]
            unpack(memoryview(bytearray(content)))
        else:
            continue
        n_open = text.count(b"[") + text.count(b"{")
        assert n_open < len(text) / 10 + 100
        deepest = np.cumsum([(c in b"[{") - (c in b"]}") for c in text]).max()
        assert deepest < MAX_DEPTH / 2


def rewritten(content, change):
    """A file of arrays after a change of its structure and arrays."""
    structure, arrays = unpack(bytearray(content))
    return b"".join(pack(*reversed(change(structure, arrays))))


def replaced(folder, change, kind, *, manifest=lambda node: node):
    """A saved learner with one file changed, and the manifest with it; checksums fit."""
    files = read(folder)
    for path in folder.iterdir():
        path.unlink()
    name = next(name for name in sorted(files) if name.startswith(kind))
    files = exchange(files, name, rewritten(files[name], change))
    node = unseal(files["manifest.json"])
    manifest(node)
    put(folder, {**files, "manifest.json": seal(node)}, {})


def test_a_small_file_of_plain_forests_takes_little_memory(tmp_path):
    """1.5 kB once took 11 s and 256 MB: forests were fitted on rows as long as the file said."""
    p = 2**24
    learner = CONTROLS["rf"](0, n_estimators=1)
    learner.partial_fit(np.ones((4, 3), dtype=np.float32), [0, 0, 1, 1], task="t")
    save(learner, tmp_path)

    def wide(structure, arrays):
        structure["trees"]["features"] = p
        return structure, arrays

    def without_rows(structure, arrays):
        empty = {"value.X": np.zeros((0, p), np.float32), "value.y": np.zeros(0, np.int64)}
        return structure, empty

    replaced(tmp_path, wide, "values", manifest=lambda node: node.update(in_shape=[p]))
    replaced(tmp_path, without_rows, "rows")
    assert sum(path.stat().st_size for path in tmp_path.iterdir()) < 3000
    tracemalloc.start()
    try:
        assert load(tmp_path).in_shape_ == (p,)
    finally:
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peak < 5_000_000


def test_plain_forests_come_back_as_they_were(tmp_path):
    learner = taught(CONTROLS["rf"](0, n_estimators=7), 2, (2, 4, 4))
    save(learner, tmp_path)
    again = load(tmp_path)
    X = rows(3, shape=(2, 4, 4))[0]
    assert np.array_equal(again.predict_proba(X, "task-1"), learner.predict_proba(X, "task-1"))
    forest_before, forest_after = (known.forests_["task-1"][-1] for known in (learner, again))
    assert forest_after.n_estimators == forest_before.n_estimators == 7
    assert forest_after.n_features_in_ == forest_before.n_features_in_ == 32
    assert len(forest_after.estimators_) == 7
    assert forest_after.get_params() == forest_before.get_params()


def test_a_network_that_makes_too_much_of_a_row_is_not_loaded(tmp_path):
    """A convolution with a wide padding: 242 kB asked for 2.3 TB when it was used."""
    X, y = rows(0, shape=(1, 8, 8))
    cnn = SillyNetwork("cnn", width=0.05, recipe=QUICK, random_state=0)
    save(cnn.partial_fit(X, y, task="t"), tmp_path)

    def padded(structure, arrays):
        layers = structure["network"]["body"]["sequence"]
        first = next(layer for layer in layers if "convolution" in layer)
        first["convolution"][4] = [2**15, 2**15]
        return structure, arrays

    replaced(tmp_path, padded, "encoder")
    with pytest.raises(PersistenceError, match="too large"):
        load(tmp_path)
    stored = SillyNetwork("cnn", width=0.05, recipe=QUICK, random_state=0, store=tmp_path)
    with pytest.raises(PersistenceError, match="too large"):
        stored.predict(X)
