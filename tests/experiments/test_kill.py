"""A run that is killed with -9 at random moments ends as if it had never been."""

import random
from multiprocessing import get_context

from tiny import Row, run, stored_lines, tiny_spec, without_clocks

from lifelong.experiments.catalogue import experiment
from lifelong.experiments.session import prepare

KILLS = 50
SERVER = get_context("forkserver")  # has imported everything, so that a start takes milliseconds
SERVER.set_forkserver_preload(["lifelong.experiments.session", "sklearn.ensemble"])


def measure(folder, said):
    """In a process of its own: say each row only after it was stored."""
    for event in prepare(tiny_spec(), folder).events():
        if isinstance(event, Row):
            said.send(tuple(event.key))
    said.send("finished")


def start_and_kill(folder, after, work=measure):
    """Let a run work for so many seconds, then kill it; what it said it had stored, and whether it
    finished.
    """
    ours, theirs = SERVER.Pipe(duplex=False)
    process = SERVER.Process(target=work, args=(folder, theirs))
    process.start()
    theirs.close()
    ours.poll(
        30
    )  # the first row is there: the clock runs while rows are written, not while Python starts
    process.join(after)
    killed = process.is_alive()
    process.kill()
    process.join()
    said = []
    while ours.poll():
        try:
            said.append(ours.recv())
        except EOFError:
            break
    return [key for key in said if key != "finished"], killed


def measure_on_a_tree(folder, said):
    """Food1k's budgets on a small tree of pictures in its layout, each task measured twice."""
    spec = experiment("food1k-budget").spec(smoke=True, stages="final")
    for event in prepare(spec, folder).events():
        if isinstance(event, Row):
            said.send(tuple(event.key))
    said.send("finished")


KEY = ("part", "learner", "repetition", "kind", "task", "stage")


def keys_in(folder):
    return [
        tuple(line[name] for name in KEY)
        for line in stored_lines(folder)
        if line["status"] == "done"
    ]


def in_order(folder):
    return sorted(stored_lines(folder), key=lambda line: [str(line[name]) for name in KEY])


def test_fifty_kills_lose_no_finished_row_and_double_none(tmp_path):
    whole = tmp_path / "whole"
    run(tiny_spec(), whole)
    chance, kills, number = random.Random(0), 0, 0
    while kills < KILLS:
        number += 1
        folder, told, finished = tmp_path / f"killed-{number}", set(), False
        while not finished:
            said, killed = start_and_kill(folder, chance.uniform(0, 0.06))
            told.update(said)
            kills += killed
            finished = not killed
            keys = keys_in(folder)
            assert told <= set(keys), "a row that had been finished is lost"
            assert len(keys) == len(set(keys)), "a row is there twice"
        assert in_order(folder) == in_order(whole)
        assert without_clocks(folder) == without_clocks(whole)


def test_a_run_over_a_tree_of_pictures_goes_on_after_a_kill_in_the_middle(tmp_path):
    whole = tmp_path / "whole"
    spec = experiment("food1k-budget").spec(smoke=True, stages="final")
    run(spec, whole)
    killed = tmp_path / "killed"
    told, was_alive = start_and_kill(killed, 0, measure_on_a_tree)
    assert was_alive
    before = keys_in(killed)
    assert 0 < len(before) < len(keys_in(whole))
    assert set(told) <= set(before)
    run(spec, killed)
    assert in_order(killed) == in_order(whole)
