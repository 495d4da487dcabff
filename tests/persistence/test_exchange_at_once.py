"""Several writers export encoders into one folder at the same time: every file holds its own."""

import os
import random
import threading
from multiprocessing import get_context
from pathlib import Path

import pytest
from small import forest, rows

from lifelong import export_encoder, import_encoder

TIMES = 60
SPAWN = get_context("spawn")
WRITERS = {"threads": threading.Thread, "processes": SPAWN.Process}


def export_often(folder: Path, number: int, times: int, wrong) -> None:
    """Export the encoder of one site again and again; say which times its file was not its own.

    All writers have one process id and one seed, as processes in containers may.
    """
    os.getpid = lambda: 1
    random.seed(0)
    site = forest().partial_fit(*rows(number), task="ours")
    reference = folder.parent / f"{number}.encoder"
    export_encoder(site, "ours", reference)
    own = import_encoder(reference).checksum
    for time in range(times):
        try:
            export_encoder(site, "ours", folder / f"{number}.encoder")
            found = import_encoder(folder / f"{number}.encoder").checksum
            problem = "" if found == own else "the file holds another encoder"
        except Exception as error:
            problem = f"{type(error).__name__}: {error}"
        if problem:
            wrong.put((number, time, problem))


@pytest.mark.parametrize("kind", WRITERS)
def test_two_writers_in_one_folder_never_mix_their_files(kind, tmp_path, monkeypatch):
    monkeypatch.setattr(os, "getpid", os.getpid)  # put back afterwards
    folder = tmp_path / "shared"
    folder.mkdir()
    wrong = SPAWN.Queue()
    make = WRITERS[kind]
    writers = [make(target=export_often, args=(folder, site, TIMES, wrong)) for site in (1, 2)]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    wrong.put(None)
    assert list(iter(wrong.get, None)) == []
    assert sorted(path.name for path in folder.iterdir()) == ["1.encoder", "2.encoder"]
