"""Downloads from a real local server: resumed, checked, unpacked safely, and one line when it
cannot be done.
"""

import functools
import hashlib
import http.server
import threading
import zipfile
from dataclasses import replace
from pathlib import Path
from typing import ClassVar

import pytest
import raw_files

from lifelong.exceptions import DatasetError
from lifelong.tasks.datasets._archives import unpack
from lifelong.tasks.datasets._fetch import fetch
from lifelong.tasks.datasets._source import Download
from lifelong.tasks.datasets.cifar import CIFAR_100
from lifelong.tasks.datasets.mini_imagenet import MINI_IMAGENET


class Server(http.server.SimpleHTTPRequestHandler):
    """Serves a folder, and parts of files where asked (which the standard handler does not)."""

    asked: ClassVar[list] = []

    def do_GET(self):
        wanted = self.headers.get("Range")
        self.asked.append(wanted)
        if wanted is None:
            return super().do_GET()
        content = Path(self.translate_path(self.path))
        with content.open("rb") as file:
            body = file.read()[int(wanted.removeprefix("bytes=").rstrip("-")) :]
        self.send_response(206 if body else 416)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        return None

    def log_message(self, *_):
        """Keep quiet."""


@pytest.fixture
def served(tmp_path):
    """A CIFAR-100 source whose official archive is on a local server."""
    folder = raw_files.write_cifar_100(tmp_path / "official")
    members = {f"cifar-100-binary/{path.name}": path.read_bytes() for path in folder.iterdir()}
    archive = raw_files.write_tar(tmp_path / "served" / "cifar-100-binary.tar.gz", members)
    handler = functools.partial(Server, directory=str(tmp_path / "served"))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    md5 = hashlib.md5(archive.read_bytes(), usedforsecurity=False).hexdigest()
    url = f"http://127.0.0.1:{server.server_port}/{archive.name}"
    download = Download(
        url, to="cifar-100-binary", size=archive.stat().st_size, checksum=f"md5:{md5}", unpack=True
    )
    Server.asked.clear()
    yield replace(CIFAR_100, downloads=(download,)), archive
    server.shutdown()
    server.server_close()
    thread.join()


def test_an_archive_is_downloaded_checked_and_unpacked(served, tmp_path):
    source, archive = served
    seen = []
    folder = fetch(source, tmp_path / "data", report=lambda done, total: seen.append((done, total)))
    assert {path.name for path in folder.iterdir()} == {"train.bin", "test.bin"}
    assert seen[-1] == (archive.stat().st_size, archive.stat().st_size)
    assert [path.name for path in (tmp_path / "data").iterdir()] == ["cifar-100-binary"]


def test_a_download_that_broke_off_goes_on_where_it_stopped(served, tmp_path):
    source, archive = served
    part = tmp_path / "data" / "cifar-100-binary.tar.gz.part"
    part.parent.mkdir()
    part.write_bytes(archive.read_bytes()[:1000])
    fetch(source, tmp_path / "data")
    assert Server.asked == ["bytes=1000-"]


def test_what_is_complete_is_not_downloaded_again(served, tmp_path):
    source, archive = served
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "cifar-100-binary.tar.gz").write_bytes(archive.read_bytes())
    fetch(source, tmp_path / "data")
    fetch(source, tmp_path / "data")
    assert Server.asked == []
    assert (
        tmp_path / "data" / "cifar-100-binary.tar.gz"
    ).is_file()  # the user's own copy is left alone


def test_a_wrong_checksum_leaves_nothing_behind(served, tmp_path):
    source, _ = served
    wrong = replace(source.downloads[0], checksum="md5:" + "0" * 32)
    with pytest.raises(
        DatasetError,
        match=r"has the md5 checksum \w{32}. Expected 0{32}, as published. Fetch it again",
    ):
        fetch(replace(source, downloads=(wrong,)), tmp_path / "data")
    assert not list((tmp_path / "data").iterdir())


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:9/cifar-100-binary.tar.gz", "http://no.such.host.invalid/a.tar.gz"]
)
def test_offline_one_line_says_what_to_put_where(served, tmp_path, url):
    source, _ = served
    unreachable = replace(source.downloads[0], url=url)
    with pytest.raises(
        DatasetError, match=r"cannot be downloaded \(.*\)\. Put http.* \(unpacked\) into .*binary"
    ) as caught:
        fetch(replace(source, downloads=(unreachable,)), tmp_path / "data")
    assert "\n" not in str(caught.value)


def test_a_file_that_the_server_does_not_have_is_named(served, tmp_path):
    source, _ = served
    gone = replace(source.downloads[0], url=source.downloads[0].url + ".gone")
    with pytest.raises(DatasetError, match=r"gone cannot be downloaded \(File not found\)"):
        fetch(replace(source, downloads=(gone,)), tmp_path / "data")


def test_what_may_not_be_passed_on_says_what_to_put_where(tmp_path):
    with pytest.raises(
        DatasetError, match=r"cannot be downloaded. ImageNet's terms .*Put it into .*mini-imagenet"
    ):
        fetch(MINI_IMAGENET, tmp_path)


@pytest.mark.parametrize("name", ["../outside.txt", "/outside.txt"])
def test_a_zip_member_outside_its_folder_is_refused(tmp_path, name):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr(name, "x")
    with pytest.raises(
        DatasetError, match=r"a\.zip: member .* would be written outside its folder"
    ):
        unpack(tmp_path / "a.zip", tmp_path / "target")
    assert [path.name for path in tmp_path.iterdir()] == ["a.zip"]


def test_a_symlink_in_a_zip_is_refused(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        info = zipfile.ZipInfo("link")
        info.external_attr = 0o120777 << 16
        archive.writestr(info, "/etc/passwd")
    with pytest.raises(DatasetError, match=r"member 'link' is a link or a device"):
        unpack(tmp_path / "a.zip", tmp_path / "target")


def test_a_broken_archive_is_refused_and_leaves_nothing(tmp_path):
    for name in ("a.zip", "a.tar.gz"):
        (tmp_path / name).write_bytes(b"neither zip nor tar")
        with pytest.raises(DatasetError, match=rf"{name}: cannot be unpacked"):
            unpack(tmp_path / name, tmp_path / "target")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.tar.gz", "a.zip"]
