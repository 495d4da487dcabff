"""Files are whole or not there, whatever fails in between, and no two writers meet."""

import gc
import os
import random
import signal
import stat
import threading
from contextlib import suppress
from pathlib import Path

import pytest

from lifelong import _files
from lifelong._files import SCRATCH, replace_file, replacing, scratch_folder


class BrokenDisk:
    """``os``, but for one call that fails; a write fails after its first byte."""

    def __init__(self, broken):
        self.broken = broken

    def __getattr__(self, name):
        real = getattr(os, name)
        if name != self.broken:
            return real

        def fail(*arguments, **keywords):
            if name == "write":
                real(arguments[0], bytes(arguments[1])[:1])
            raise OSError(28, "No space left on device")

        return fail


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


@pytest.mark.parametrize("content", [b"new", [b"n", bytearray(b"e"), memoryview(b"w")]])
@pytest.mark.parametrize("sync", [False, True])
def test_a_file_is_replaced_by_all_of_the_new_content(content, sync, tmp_path):
    file = tmp_path / "file"
    file.write_bytes(b"the old one")
    replace_file(file, content, sync=sync)
    assert file.read_bytes() == b"new"
    assert names(tmp_path) == ["file"]


@pytest.mark.parametrize("broken", ["open", "write", "fsync", "replace"])
def test_whatever_step_fails_the_old_file_stays_and_nothing_is_left(broken, tmp_path, monkeypatch):
    file = tmp_path / "file"
    file.write_bytes(b"the old one")
    monkeypatch.setattr(_files, "os", BrokenDisk(broken))
    with pytest.raises(OSError, match="No space left"):
        replace_file(file, b"new", sync=True)
    assert file.read_bytes() == b"the old one"
    assert names(tmp_path) == ["file"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt])
def test_a_writer_that_gives_up_leaves_the_old_file(error, tmp_path):
    def give_up():
        with replacing(file) as scratch:
            scratch.path.write_bytes(b"half of")
            raise error

    file = tmp_path / "file"
    file.write_bytes(b"the old one")
    with pytest.raises(error):
        give_up()
    assert file.read_bytes() == b"the old one"
    assert names(tmp_path) == ["file"]


def test_pieces_that_cannot_be_made_leave_no_half_file(tmp_path):
    def pieces():
        yield b"half of"
        raise ValueError("no more")

    with pytest.raises(ValueError, match="no more"):
        replace_file(tmp_path / "file", pieces())
    assert names(tmp_path) == []


def test_a_scratch_name_that_is_taken_is_left_to_its_owner(tmp_path, monkeypatch):
    drawn = iter(["taken", "taken", "free"])
    monkeypatch.setattr(_files.secrets, "token_hex", lambda _: next(drawn))
    theirs = tmp_path / f"{SCRATCH}taken"
    theirs.write_bytes(b"theirs")
    replace_file(tmp_path / "file", b"ours")
    assert (tmp_path / "file").read_bytes() == b"ours"
    assert theirs.read_bytes() == b"theirs"


def test_two_threads_that_write_one_name_leave_one_whole_file(tmp_path):
    contents = [bytes([number]) * 100_000 for number in range(2)]

    def write(content):
        for _ in range(60):
            replace_file(tmp_path / "file", content)
            assert (tmp_path / "file").read_bytes() in contents

    threads = [threading.Thread(target=write, args=(content,)) for content in contents]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (tmp_path / "file").read_bytes() in contents
    assert names(tmp_path) == ["file"]


@pytest.mark.skipif(os.name == "nt", reason="Windows has no such permissions")
def test_others_may_read_what_the_umask_lets_them(tmp_path):
    before = os.umask(0o022)
    try:
        replace_file(tmp_path / "file", b"")
        with scratch_folder(tmp_path) as scratch:
            scratch.rename(tmp_path / "folder")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "file").stat().st_mode) == 0o644
    assert stat.S_IMODE((tmp_path / "folder").stat().st_mode) == 0o755


def test_a_scratch_folder_is_removed_unless_it_was_renamed(tmp_path):
    with scratch_folder(tmp_path) as scratch:
        (scratch / "kept").write_bytes(b"")
        scratch.rename(tmp_path / "done")
    with scratch_folder(tmp_path) as scratch:
        (scratch / "lost").write_bytes(b"")
    assert names(tmp_path) == ["done"]
    assert names(tmp_path / "done") == ["kept"]


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="sees open files in /proc")
# A file that nobody has got yet closes itself, and Python warns of it.
@pytest.mark.filterwarnings("ignore::ResourceWarning")
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_an_interrupt_leaves_no_scratch_file_open(tmp_path):
    def interrupt(*_):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    chance = random.Random(0)
    try:
        for _ in range(300):
            with suppress(KeyboardInterrupt):
                signal.setitimer(signal.ITIMER_REAL, chance.uniform(1e-5, 3e-4))
                for _ in range(1000):
                    replace_file(tmp_path / "file", b"content")
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    gc.collect()  # inside of this test, so that the warnings are its own
    names = []
    for handle in Path("/proc/self/fd").iterdir():
        with suppress(FileNotFoundError):
            names.append(str(handle.readlink()))
    assert not [name for name in names if str(tmp_path) in name]
