"""The manifest stays small however many tasks there are, and files are joined without a loss."""

import json
import math

import numpy as np
from small import forest, rows, same_answers

from lifelong import load, save
from lifelong.persistence import parts
from lifelong.persistence.parts import FILES_PER_LEVEL, n_files_kept
from lifelong.persistence.text import MAX_JSON

REFERENCE = 105  # bytes of one reference to a file in a manifest


def files_after(n_saves):
    """Parts in each file of a value that gains one part per save, and all that was written."""
    sizes = []
    n_written = 0
    for _ in range(n_saves):
        n_kept = n_files_kept(sizes, 1)
        new = 1 + sum(sizes[n_kept:])
        sizes = [*sizes[:n_kept], new]
        n_written += new
    return sizes, n_written


def references(folder):
    """How many files each task's channel has."""
    node = json.loads((folder / "manifest.json").read_bytes())
    return [len(entry["files"]) for _, entry in node["state"]["channels"]]


def test_a_value_of_ten_thousand_parts_has_few_files_and_is_seldom_written_again():
    sizes, n_written = files_after(10_000)
    levels = math.ceil(math.log(10_000, FILES_PER_LEVEL))
    assert sum(sizes) == 10_000
    assert len(sizes) < FILES_PER_LEVEL * levels
    assert n_written <= 10_000 * (levels + 1)


def test_the_manifest_of_ten_thousand_growing_tasks_is_a_tenth_of_the_limit():
    most = max(len(files_after(n)[0]) for n in (4095, 9000, 9999, 10_000))
    assert 10_000 * most * REFERENCE < MAX_JSON / 10


def test_every_part_is_in_one_file_whatever_came_before():
    rng = np.random.default_rng(0)
    for _ in range(200):
        sizes = rng.integers(1, 100, size=rng.integers(0, 40)).tolist()
        assert n_files_kept(sizes, 0) == len(sizes)
        for _ in range(60):
            new = int(rng.integers(1, 20))
            n_kept = n_files_kept(sizes, new)
            sizes = [*sizes[:n_kept], new + sum(sizes[n_kept:])]
        assert len(sizes) < 4 * FILES_PER_LEVEL


def test_a_growing_learner_that_is_saved_after_every_task_has_few_files(tmp_path):
    stored = forest(store=tmp_path)
    in_memory = forest()
    for number in range(20):
        stored.partial_fit(*rows(number, n=8), task=number)
        in_memory.partial_fit(*rows(number, n=8), task=number)
    assert max(references(tmp_path)) <= 2 * FILES_PER_LEVEL
    assert same_answers(load(tmp_path), in_memory)


def test_a_store_with_a_file_per_part_loads_and_becomes_small(tmp_path, monkeypatch):
    """As they were before files were joined."""
    learner = forest()
    with monkeypatch.context() as before:
        before.setattr(parts, "FILES_PER_LEVEL", 1000)
        for number in range(15):
            save(learner.partial_fit(*rows(number, n=8), task=number), tmp_path)
    assert references(tmp_path)[0] == 15
    again = load(tmp_path)
    assert same_answers(again, learner)
    save(again.partial_fit(*rows(15, n=8), task=15), tmp_path)
    assert references(tmp_path)[0] == 1
    assert same_answers(load(tmp_path), learner.partial_fit(*rows(15, n=8), task=15))
    node = json.loads((tmp_path / "manifest.json").read_bytes())
    named = json.dumps(node).count(".safetensors")
    assert len(list(tmp_path.glob("*.safetensors"))) <= named, "joined files are gone"
