"""Features on disk: once per row, whole or not at all, never silently wrong."""

import subprocess
import sys

import numpy as np
import pytest

from lifelong.encoders.feature_cache import SHARD, FeatureStore, features_of, key_of
from lifelong.exceptions import DatasetError


def rows(n, start=0):
    return np.arange(start, start + n, dtype=np.float32)[:, None].repeat(3, axis=1)


class Network:
    """A function of a row that counts how often it is asked."""

    def __init__(self, patience=None):
        self.asked, self.patience = [], patience

    def __call__(self, batch):
        if self.patience is not None and len(self.asked) >= self.patience:
            raise KeyboardInterrupt
        self.asked += [float(row[0]) for row in batch]
        return np.stack([row * 2 + 1 for row in batch])


def ask(X, network, folder, identity=("v1",), batch=1):
    return features_of(X, network, identity=identity, name="net", batch=batch, cache_dir=folder)


def shards(folder):
    return sorted(folder.rglob("*.safetensors"))


def test_a_row_is_computed_once_whatever_comes_with_it(tmp_path):
    network = Network()
    ask(rows(5), network, tmp_path)
    mixed = np.concatenate([rows(3, start=4), rows(2), rows(1, start=6)])
    np.testing.assert_array_equal(ask(mixed, network, tmp_path), mixed * 2 + 1)
    assert network.asked == [0, 1, 2, 3, 4, 5, 6]


def test_without_a_folder_nothing_is_written_and_the_last_calls_are_remembered(tmp_path):
    network = Network()
    first, again = (ask(rows(4, start=50), network, None) for _ in range(2))
    np.testing.assert_array_equal(first, again)
    assert len(network.asked) == 4
    first[:] = 0
    assert ask(rows(4, start=50), network, None).all()


def test_another_model_or_other_settings_have_other_features(tmp_path):
    network = Network()
    for identity in (("v1", 32), ("v1", 64), ("v2", 32)):
        ask(rows(2), network, tmp_path, identity)
    assert len(network.asked) == 6
    assert len(list(tmp_path.iterdir())) == 3


def test_rows_of_another_shape_or_type_are_other_rows():
    row = np.zeros(4, dtype=np.float32)
    keys = [
        key_of(row),
        key_of(row.reshape(2, 2)),
        key_of(row.astype(np.float64)),
        key_of("a"),
        key_of("b"),
    ]
    assert len(set(keys)) == 5


@pytest.mark.parametrize("damage", ["flipped", "cut", "emptied", "gone"])
def test_a_damaged_shard_is_said_and_computed_again(tmp_path, damage):
    network, X = Network(), rows(6, start=100)
    right = ask(X, network, tmp_path)
    (path,) = shards(tmp_path)
    content = bytearray(path.read_bytes())
    content[-2] ^= 1
    if damage == "gone":
        path.unlink()
    else:
        path.write_bytes(
            {"flipped": bytes(content), "cut": bytes(content[:-9]), "emptied": b""}[damage]
        )
    with pytest.warns(
        UserWarning, match="is damaged or gone: the features in it are computed again"
    ):
        again = ask(X[::-1], network, tmp_path)
    np.testing.assert_array_equal(again, right[::-1])
    assert len(network.asked) == 12
    assert len(shards(tmp_path)) == 1


def test_another_process_finds_the_features(tmp_path):
    X = rows(3, start=200)
    ask(X, Network(), tmp_path)
    keys = [key_of(row) for row in X]
    found = FeatureStore(shards(tmp_path)[0].parent).find([*keys, key_of("unknown")])
    assert list(found) == keys
    np.testing.assert_array_equal(np.stack(list(found.values())), X * 2 + 1)


def test_an_interrupted_call_goes_on_where_its_last_shard_ended(tmp_path):
    X = rows(3 * SHARD + 5, start=1000)
    with pytest.raises(KeyboardInterrupt):
        ask(X, Network(patience=2 * SHARD + 7), tmp_path)
    rest = Network()
    np.testing.assert_array_equal(ask(X, rest, tmp_path), X * 2 + 1)
    assert rest.asked == X[2 * SHARD :, 0].tolist()


KILLED = """
import os, signal, sys
from pathlib import Path
import numpy as np
from lifelong.encoders.feature_cache import SHARD, features_of
X = np.arange(2 * SHARD, dtype=np.float32)[:, None]
def run(batch):
    if batch[0] == SHARD + 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return np.stack(batch)
features_of(X, run, identity=(), name="net", batch=1, cache_dir=Path(sys.argv[1]))
"""


def test_a_kill_leaves_whole_shards_only(tmp_path):
    done = subprocess.run([sys.executable, "-c", KILLED, str(tmp_path)], check=False, timeout=120)
    assert done.returncode == -9
    network, X = Network(), np.arange(2 * SHARD, dtype=np.float32)[:, None]
    features_of(X, network, identity=(), name="net", batch=1, cache_dir=tmp_path)
    assert network.asked == X[SHARD:, 0].tolist()


def test_half_written_files_are_never_read(tmp_path):
    network = Network()
    ask(rows(2, start=300), network, tmp_path)
    (shards(tmp_path)[0].parent / ".unfinished-abc").write_bytes(b"half")
    ask(rows(3, start=300), network, tmp_path)
    assert len(network.asked) == 3


def test_a_folder_that_cannot_be_written_is_one_clear_error(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(DatasetError, match="cannot be written: .* cache_dir=None"):
        ask(rows(2, start=400), Network(), tmp_path / "file")
