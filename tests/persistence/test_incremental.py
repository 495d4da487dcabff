"""A save writes what is new, and its cost does not grow with the number of tasks."""

import numpy as np
from small import forest, network, rows, same_answers, taught

from lifelong import load, save


def written(folder, before):
    """Files of ours that are there now and were not before."""
    return {path.name for path in folder.glob("*.safetensors")} - before


def kinds(names):
    return sorted(name.split("-")[0] for name in names)


def names_in(folder):
    return {path.name for path in folder.glob("*.safetensors")}


def test_nothing_is_written_twice(tmp_path):
    learner = taught(forest(), 3)
    save(learner, tmp_path)
    times = {path: path.stat().st_mtime_ns for path in tmp_path.glob("*.safetensors")}
    save(learner, tmp_path)
    save(load(tmp_path), tmp_path)
    assert times == {path: path.stat().st_mtime_ns for path in tmp_path.glob("*.safetensors")}


def test_a_new_task_leaves_all_other_files_alone(tmp_path):
    for make in (
        forest,
        network,
        lambda: forest(channel="ridge"),
        lambda: network(channel="neighbours"),
    ):
        folder = tmp_path / str(np.random.default_rng().integers(2**40))
        learner = taught(make(), 3)
        save(learner, folder)
        before = names_in(folder)
        learner.partial_fit(*rows(3), task="task-3")
        save(learner, folder)
        assert before <= names_in(folder)
        # an encoder, its own rows, and a piece per channel (old tasks gain the part for the new
        # encoder)
        assert kinds(written(folder, before)).count("encoder") == 1
        assert kinds(written(folder, before)).count("rows") == 1
        assert same_answers(learner, load(folder))


def test_after_a_load_the_next_save_is_incremental_too(tmp_path):
    save(taught(forest(), 3), tmp_path)
    before = names_in(tmp_path)
    again = load(tmp_path)
    again.partial_fit(*rows(3), task="task-3")
    save(again, tmp_path)
    assert before <= names_in(tmp_path)


def test_with_the_budget_spent_a_new_task_costs_the_same_however_many_there_are(tmp_path):
    learner = forest(budget=2)
    sizes = []
    for number in range(12):
        before = names_in(tmp_path)
        learner.partial_fit(*rows(0), task=number)
        save(learner, tmp_path)
        new = written(tmp_path, before)
        sizes.append((kinds(new), sum((tmp_path / name).stat().st_size for name in new)))
    assert sizes[3] == sizes[11] or sizes[3][0] == sizes[11][0]
    assert len(sizes[11][0]) <= 2, "a channel, and where the task's rows lie"


def test_rows_leave_the_disk_when_the_budget_is_spent(tmp_path):
    learner = forest(budget=2)
    learner.partial_fit(*rows(0), task=0)
    save(learner, tmp_path)
    assert "rows" in kinds(names_in(tmp_path))
    learner.partial_fit(*rows(1), task=1)
    save(learner, tmp_path)
    assert "rows" not in kinds(names_in(tmp_path))


def test_a_learner_can_be_saved_to_several_places_and_over_another_one(tmp_path):
    learner = taught(forest(), 2)
    save(learner, tmp_path / "a")
    save(learner, tmp_path / "b")
    assert names_in(tmp_path / "a") == names_in(tmp_path / "b")
    other = taught(forest(channel="ridge"), 3)
    save(other, tmp_path / "a")
    assert same_answers(other, load(tmp_path / "a"))
    assert same_answers(learner, load(tmp_path / "b"))


def test_a_part_of_a_learner_takes_no_more_than_it_needs(tmp_path):
    learner = taught(forest(), 3)
    save(learner, tmp_path / "all")
    alone = learner.alone("task-1")
    save(alone, tmp_path / "one")
    assert same_answers(alone, load(tmp_path / "one"))
    assert len(names_in(tmp_path / "one")) <= 5
