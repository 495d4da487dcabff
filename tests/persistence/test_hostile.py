"""Damaged and malicious directories: the right learner, or one clear error; nothing else ever."""

import json
import os
import random
import socket
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from fuzzing import nothing_else_touched, outcome, put
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from mutations import damaged, exchange, join, mutate, read, seal, split, unseal
from small import QUICK, forest, network, rows, same_answers, taught

from lifelong import SillyForest, SillyNetwork, load, save
from lifelong.exceptions import PersistenceError
from lifelong.persistence.arrays import unpack
from lifelong.persistence.text import Unfit, from_json


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    folder = tmp_path_factory.mktemp("saved")
    learner = taught(forest(), 2)
    save(learner, folder)
    return learner, read(folder)


@pytest.fixture
def write(tmp_path):
    def write(files):
        for path in tmp_path.iterdir():
            path.unlink()
        put(tmp_path, files, {})
        return tmp_path

    return write


def changed(files, change):
    node = unseal(files["manifest.json"])
    change(node)
    return {**files, "manifest.json": seal(node)}


def first(files, kind):
    return next(name for name in sorted(files) if name.startswith(kind))


@settings(
    max_examples=150, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck)
)
@given(number=st.integers(0, 10**9))
def test_mutated_directories_give_a_learner_that_works_or_one_error(
    saved, tmp_path_factory, number
):
    folder = tmp_path_factory.mktemp("mutated")
    files = mutate(saved[1], random.Random(number))
    put(folder, files, {})
    size = sum(map(len, files.values()))
    outcome(folder, memory=2 * size + 4_000_000 if number % 4 == 0 else None)


@settings(max_examples=200, deadline=None, derandomize=True)
@given(content=st.binary(max_size=300), length=st.integers(0, 2**64 - 1) | st.integers(0, 300))
def test_any_bytes_are_a_file_or_are_refused(content, length):
    for text in (content, length.to_bytes(8, "little") + content):
        with pytest.raises(Unfit):
            unpack(bytearray(text))


@settings(max_examples=200, deadline=None, derandomize=True)
@given(
    text=st.text(max_size=100)
    | st.sampled_from(['{"a":1,"a":2}', "[NaN]", "[Infinity]", "[1e999]", "[" * 10**5])
)
def test_any_text_is_strict_json_or_is_refused(text):
    try:
        value = from_json(text.encode("utf-8", "replace"))
    except Unfit:
        return
    assert json.loads(text) == value


@pytest.mark.parametrize("seed", range(25))
def test_a_flipped_bit_anywhere_is_noticed(saved, write, seed):
    chance, files = random.Random(seed), dict(saved[1])
    name = chance.choice(sorted(files))
    spoiled = bytearray(files[name])
    spoiled[chance.randrange(len(spoiled))] ^= 1 << chance.randrange(8)
    with pytest.raises(PersistenceError):
        load(write({**files, name: bytes(spoiled)}))


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (lambda m: m.update(learner="os.system"), "no learner called 'os.system'"),
        (lambda m: m.update(extra=1), "unknown key 'extra'"),
        (lambda m: m["parameters"].update(__init__=1), "unknown key '__init__'"),
        (lambda m: m["parameters"].update(n_estimators=-1), "n_estimators"),
        (lambda m: m["parameters"].update(max_samples="a"), "max_samples"),
        (lambda m: m.update(in_shape=[2**31, 2**31, 2**31]), "in_shape"),
        (lambda m: m.update(tasks=[]), "tasks"),
        (lambda m: m["tasks"].append(m["tasks"][0]), "comes twice"),
        (lambda m: m["tasks"][0]["class_counts"].append(1), "counts of other classes"),
        (lambda m: m["tasks"][0]["class_counts"].__setitem__(0, -1), "whole number"),
        (lambda m: m["tasks"][0]["classes"]["values"].__setitem__(0, "class-1"), "a label twice"),
        (lambda m: m["tasks"][0]["classes"].update(dtype="<U1000000000"), "no known dtype"),
        (
            lambda m: m["state"]["encoders"][0][1]["file"].__setitem__(0, "../../etc/passwd"),
            "is no file",
        ),
        (lambda m: m["state"]["encoders"][0][1]["file"].__setitem__(1, 10**12), "instead of"),
        (lambda m: m["state"]["encoders"][0][1].update(leaves=5), "not as the manifest says"),
        (lambda m: m["state"]["encoders"].append(m["state"]["encoders"][0]), "a name twice"),
        (lambda m: m["state"]["channels"].pop(), "exactly the known tasks"),
        (lambda m: m["state"]["channels"][0][1].update(kind="pickle"), "unknown kind 'pickle'"),
        (
            lambda m: m["state"]["channels"][0][1]["files"].append(
                m["state"]["channels"][0][1]["files"][0]
            ),
            "two parts",
        ),
        (lambda m: m["state"].pop("memory"), "lacks memory"),
    ],
)
def test_a_manifest_that_makes_no_sense_is_refused_with_a_reason(saved, write, change, what):
    with pytest.raises(PersistenceError, match=what):
        load(write(changed(saved[1], change)))


def with_numbers(files, kind, array, change):
    """The files with one array changed, checksums made to fit."""
    import numpy as np

    name = first(files, kind)
    header, data = split(files[name])
    start, stop = header[array]["data_offsets"]
    dtype = {"I32": np.int32, "I64": np.int64, "F64": np.float64, "F32": np.float32, "U8": np.uint8}
    numbers = np.frombuffer(data[start:stop], dtype[header[array]["dtype"]]).copy()
    change(numbers)
    return exchange(dict(files), name, join(header, data[:start] + numbers.tobytes() + data[stop:]))


@pytest.mark.parametrize(
    ("array", "change"),
    [
        ("forest.left", lambda n: n.__setitem__(0, 0)),  # a loop
        ("forest.left", lambda n: n.__setitem__(0, 10**6)),  # out of the tree
        ("forest.left", lambda n: n.__setitem__(0, -7)),
        ("forest.right", lambda n: n.__setitem__(0, 1)),  # two ways to one node
        ("forest.feature", lambda n: n.__setitem__(0, 4)),  # a column that no row has
        ("forest.feature", lambda n: n.__setitem__(0, -1)),
        ("forest.threshold", lambda n: n.__setitem__(0, float("nan"))),
        ("forest.nodes", lambda n: n.__setitem__(0, 2**62)),
        ("forest.nodes", lambda n: n.__setitem__(0, -1)),
    ],
)
def test_no_file_leads_a_tree_out_of_its_arrays_or_in_a_circle(saved, write, array, change):
    with pytest.raises(PersistenceError):
        load(write(with_numbers(saved[1], "encoder", array, change)))


def test_stored_rows_must_be_finite_and_have_known_labels(saved, write):
    for array, change in {
        "value.X": lambda n: n.__setitem__(0, float("inf")),
        "value.y": lambda n: n.__setitem__(0, 17),
        "value.rows": lambda n: n.__setitem__(0, -1),
    }.items():
        with pytest.raises(PersistenceError):
            load(write(with_numbers(saved[1], "rows", array, change)))


def without(node, key):
    """The structure with a key left out wherever it stands."""
    if isinstance(node, list):
        return [without(part, key) for part in node]
    return (
        {k: without(part, key) for k, part in node.items() if k != key}
        if isinstance(node, dict)
        else node
    )


@pytest.mark.parametrize("key", ["Z", "y", "rows", "n_leaves"])
def test_what_a_ridge_channel_cannot_do_without_is_missed(tmp_path_factory, write, key):
    folder = tmp_path_factory.mktemp("ridge")
    save(taught(forest(channel="ridge"), 2), folder)
    files = read(folder)
    name = next(
        name for name in files if name.startswith("channel-") and b"n_leaves" in files[name]
    )
    header, data = split(files[name])
    structure = json.loads(header["__metadata__"]["lifelong"])
    header["__metadata__"]["lifelong"] = json.dumps(without(structure, key))
    with pytest.raises(PersistenceError, match=f"lacks {key}"):
        load(write(exchange(dict(files), name, join(header, data))))


@pytest.mark.parametrize("shape", [[2**40, 2**40], [10**15], [-1], [0, 2**62]])
def test_a_huge_shape_costs_nothing(saved, write, shape):
    files = dict(saved[1])
    name = first(files, "encoder")
    header, data = split(files[name])
    header["forest.threshold"]["shape"] = shape
    folder = write(exchange(files, name, join(header, data)))
    assert outcome(folder, memory=1_000_000) == "refused"


def test_a_network_larger_than_its_file_is_never_built(tmp_path):
    save(taught(network(), 1), tmp_path)
    files = read(tmp_path)
    name = first(files, "encoder")
    header, data = split(files[name])
    structure = json.loads(header["__metadata__"]["lifelong"])
    for arguments in ([10**6, 10**6, 1], [2**31, 2**31, 1], [4, 6, 1, 1], ["a", 6, 1], [4, -6, 1]):
        spoiled = json.loads(json.dumps(structure))
        spoiled["network"]["body"]["sequence"][1] = {"linear": arguments}
        header["__metadata__"]["lifelong"] = json.dumps(spoiled)
        put(tmp_path, exchange(dict(files), name, join(header, data)), read(tmp_path))
        assert outcome(tmp_path, memory=3_000_000) == "refused"
    for layer in ({"lambda": []}, {"sequence": [{"relu": []}] * 3000}, {"eval": ["1"]}):
        spoiled = json.loads(json.dumps(structure))
        spoiled["network"]["body"]["sequence"].append(layer)
        header["__metadata__"]["lifelong"] = json.dumps(spoiled)
        put(tmp_path, exchange(dict(files), name, join(header, data)), read(tmp_path))
        assert outcome(tmp_path) in ("refused", "loaded")


def test_links_pipes_and_sockets_are_not_followed(saved, write, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "file"
    files = saved[1]
    for name in ("manifest.json", first(files, "encoder")):
        folder = write(files)
        elsewhere.write_bytes(files[name])
        (folder / name).unlink()
        (folder / name).symlink_to(elsewhere)
        with pytest.raises(PersistenceError):
            load(folder)
        (folder / name).unlink()
        os.mkfifo(folder / name)
        with pytest.raises(PersistenceError, match="not a plain file"):
            load(folder)
        (folder / name).unlink()
        (folder / name).mkdir()
        with pytest.raises(PersistenceError):
            load(folder)
        (folder / name).rmdir()


def test_loading_opens_nothing_else_and_runs_nothing(saved, write):
    folder = write(saved[1])
    load(folder)  # everything is imported
    with nothing_else_touched(folder):
        assert same_answers(load(folder), saved[0])
    with pytest.raises(AssertionError), nothing_else_touched(folder):  # the watch itself works
        Path(__file__).read_text()
    with pytest.raises(AssertionError), nothing_else_touched(folder):
        exec("1")  # noqa: S102
    assert socket.socket is not None


def test_a_file_that_grows_or_shrinks_is_noticed(saved, write):
    name = first(saved[1], "channel")
    for content in (saved[1][name] + b"\0", saved[1][name][:-1], b""):
        with pytest.raises(PersistenceError, match="bytes instead of"):
            load(write({**saved[1], name: content}))
    folder = write({key: value for key, value in saved[1].items() if key != name})
    with pytest.raises(PersistenceError, match="not complete"):
        load(folder)


def test_damage_of_every_sort_happens_in_these_tests(saved):
    chance = random.Random(0)
    assert len({damaged(b"0123456789" * 3, chance) for _ in range(50)}) > 40
    assert len({str(mutate(saved[1], chance)) for _ in range(20)}) == 20
    assert rows(0)[0].shape == (24, 4)


LOADING = """
import re, sys
from pathlib import Path
from lifelong import load

load(sys.argv[1])  # a small one: imports and pools take their memory now


def kilobytes(name):
    status = Path("/proc/self/status").read_text()
    return int(re.search(name + r":\\s+(\\d+)", status)[1])


before = kilobytes("VmRSS")
Path("/proc/self/clear_refs").write_text("5")  # the peak is counted from here
learner = load(sys.argv[2])
print((kilobytes("VmHWM") - before) * 1024)
"""


@pytest.mark.skipif(
    not Path("/proc/self/clear_refs").exists(), reason="peak memory is read where Linux keeps it"
)
@pytest.mark.parametrize(
    ("make", "n"),
    [
        pytest.param(
            lambda big: SillyForest(150 if big else 2, replay=0.0, random_state=0),
            4000,
            id="forest",
        ),
        pytest.param(
            lambda big: SillyNetwork((1000,) * 5 if big else (5,), recipe=QUICK, replay=0.0),
            100,
            id="network",
        ),
    ],
)
def test_loading_takes_at_most_twice_the_memory_of_the_files(make, n, tmp_path):
    X, y = np.random.default_rng(0).random((n, 4), dtype=np.float32), np.arange(n) % 2
    for size in ("small", "big"):
        save(make(size == "big").partial_fit(X, y, task="a"), tmp_path / size)
    command = [sys.executable, "-c", LOADING, str(tmp_path / "small"), str(tmp_path / "big")]
    taken = int(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    size = sum(path.stat().st_size for path in (tmp_path / "big").iterdir())
    assert size > 5_000_000
    assert taken < 2 * size + 1_000_000
