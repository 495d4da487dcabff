"""Real clusters of two workers on the loopback interface; whoever starts a process here ends it, by
its number.
"""

import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil

HERE, BIN = Path(__file__).parent, Path(sys.executable).parent
QUIET = {
    "RAY_USAGE_STATS_ENABLED": "0",
    "OMP_NUM_THREADS": "1",
    "RAY_ENABLE_UV_RUN_RUNTIME_ENV": "0",
}
# Said, and not left to Ray: a head asks for a token as soon as the user has one, which a second
# node then lacks.
QUIET["RAY_AUTH_MODE"] = "disabled"
PATIENCE = 120  # seconds: a busy machine needs half a minute to start a node


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_until(is_so, what, seconds=PATIENCE):
    """Look again and again; the first true answer."""
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        answer = is_so()
        if answer:
            return answer
        time.sleep(0.1)
    raise AssertionError(f"{what} did not happen in {seconds} s")


def listens(host, port):
    try:
        socket.create_connection((host, port), timeout=1).close()
    except OSError:
        return False
    return True


class Process:
    """A process and all that it starts."""

    def __init__(self, *command, log, first_on_path=HERE):
        path = os.pathsep.join([str(BIN), os.environ["PATH"]])
        modules = os.pathsep.join(map(str, [first_on_path, HERE]))
        with Path(log).open("wb") as file:
            self._process = subprocess.Popen(
                [str(part) for part in command],
                stdout=file,
                stderr=subprocess.STDOUT,
                env={**os.environ, **QUIET, "PATH": path, "PYTHONPATH": modules},
                start_new_session=True,
            )
        self._family = {self._process.pid: psutil.Process(self._process.pid)}

    def family(self):
        """It and its descendants, also those whose parent has died."""
        for known in list(self._family.values()):
            try:
                self._family.update({child.pid: child for child in known.children(recursive=True)})
            except psutil.NoSuchProcess:
                continue
        return list(self._family.values())

    def kill(self):
        """All of them at once, as a power cut would."""
        for one in self.family():
            try:
                one.kill()
            except psutil.NoSuchProcess:
                continue
        self._process.wait()


class RayCluster:
    """A head and a second node, one processor each."""

    engine = "ray"

    def __init__(self):
        self._folder = Path(tempfile.mkdtemp(prefix="ll"))  # short: names of sockets are limited
        self._port = free_port()
        self.address = f"127.0.0.2:{self._port}"
        self.head = self._node(
            "127.0.0.2", "--head", f"--port={self._port}", f"--temp-dir={self._folder}/t"
        )
        try:
            self._wait_for("127.0.0.2")  # its port answers before it knows who may join
            self.second = self.join()
        except AssertionError:
            self.head.kill()
            raise

    def _wait_for(self, ip):
        log = self._folder / f"{ip}.log"
        wait_until(lambda: "Ray runtime started" in log.read_text(), f"a Ray node at {ip}")

    def _node(self, ip, *arguments, **options):
        common = [
            "--num-cpus=1",
            "--object-store-memory=80000000",
            "--disable-usage-stats",
            "--block",
        ]
        log = self._folder / f"{ip}.log"
        return Process(
            "ray", "start", f"--node-ip-address={ip}", *arguments, *common, log=log, **options
        )

    def join(self, ip="127.0.0.3", **options):
        """One more node; comes back when it has started."""
        node = self._node(ip, f"--address={self.address}", **options)
        self._wait_for(ip)
        return node

    def working(self):
        """The processes that do work now."""
        found = []
        for one in self.head.family() + self.second.family():
            try:
                found += [one] * one.cmdline()[0].startswith("ray::work")
            except (psutil.Error, IndexError):
                continue
        return found

    def behead(self):
        """Nobody leads it any more: the head's control process dies."""
        for one in self.head.family():
            if one.is_running() and one.name() == "gcs_server":
                one.kill()

    def stop(self):
        for node in (self.second, self.head):
            node.kill()
        shutil.rmtree(self._folder, ignore_errors=True)


class DaskCluster:
    """A scheduler and two workers, one thread each."""

    engine = "dask"

    def __init__(self):
        self._folder = Path(tempfile.mkdtemp(prefix="ll"))
        port = free_port()
        self.address = f"tcp://127.0.0.1:{port}"
        scheduler = ("dask", "scheduler", "--host=127.0.0.1", f"--port={port}", "--no-dashboard")
        self.head = Process(*scheduler, log=self._folder / "scheduler.log")
        wait_until(lambda: listens("127.0.0.1", port), "a Dask scheduler")
        self.first, self.second = self.join(), self.join()

    def join(self, **options):
        """One more worker with its nurse, who starts it again when it dies."""
        log = self._folder / f"worker-{free_port()}.log"
        quiet = (
            "--nthreads=1",
            "--no-dashboard",
            "--host=127.0.0.1",
            f"--local-directory={self._folder}",
        )
        worker = Process("dask", "worker", self.address, *quiet, log=log, **options)
        wait_until(lambda: "Registered to" in log.read_text(), "a Dask worker")
        return worker

    def working(self):
        """The processes that do work now, or wait for it."""
        found = []
        for one in self.first.family() + self.second.family():
            try:
                found += [one] * ("spawn_main" in " ".join(one.cmdline()))
            except psutil.Error:
                continue
        return found

    def behead(self):
        """Nobody leads it any more."""
        self.head.kill()

    def stop(self):
        for one in (self.second, self.first, self.head):
            one.kill()
        shutil.rmtree(self._folder, ignore_errors=True)
