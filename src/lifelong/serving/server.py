"""A small HTTP server of one saved learner: Python's own, so that nothing has to be installed.

It reads and never writes. There is no login and no encryption: it listens on this machine alone
unless told otherwise, and belongs behind a proxy that has both.
"""

import json
import logging
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

from lifelong.exceptions import LifelongError
from lifelong.learners.base import Learner
from lifelong.persistence import load
from lifelong.serving.answers import answers_to, described, read_json

MOST_BYTES = 16_000_000
"""Of a request."""

SECONDS = 30.0
"""To wait for the rest of a request."""

_log = logging.getLogger(__name__)
_PLACES = {"/": "GET", "/model": "GET", "/predict": "POST"}


class Response(NamedTuple):
    """What is sent back."""

    status: HTTPStatus
    content: bytes
    kind: str = "application/json"


class Served:
    """A saved learner that is loaded again when its directory has a new version of it.

    Parameters
    ----------
    directory : Path
        Where it was saved.
    """

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self._lock = Lock()
        self._version = self._newest()
        self._learner = load(directory)

    def learner(self) -> Learner:
        """The newest version; the one before, if that cannot be loaded."""
        with self._lock:
            newest = self._newest()
            if newest != self._version:
                try:
                    self._learner = load(self.directory)
                    self._version = newest
                except (LifelongError, OSError):
                    _log.exception("%s cannot be loaded; the version before stays", self.directory)
            return self._learner

    def _newest(self) -> tuple[int, int]:
        """What changes when a learner is saved: its manifest is replaced by a new file."""
        try:
            looks = (self.directory / "manifest.json").stat()
        except OSError:
            return 0, 0
        return looks.st_ino, looks.st_mtime_ns


def respond(served: Served, method: str, path: str, body: bytes) -> Response:
    """The response to a request; a mistake in it is a sentence, never a traceback.

    Parameters
    ----------
    served : Served
    method : "GET" or "POST"
    path : str
        ``/`` is a page, ``/model`` describes the learner, ``/predict`` answers rows.
    body : bytes
        JSON, see :func:`lifelong.serving.answers.answers_to`.
    """
    place = path.partition("?")[0]
    if place not in _PLACES:
        known = ", ".join(f"{verb} {where}" for where, verb in _PLACES.items())
        return _failed(HTTPStatus.NOT_FOUND, f"There is nothing at {place!r}. Known: {known}.")
    if method != _PLACES[place]:
        return _failed(HTTPStatus.METHOD_NOT_ALLOWED, f"{place} takes {_PLACES[place]} requests.")
    if place == "/":
        return Response(HTTPStatus.OK, _page(), "text/html; charset=utf-8")
    try:
        learner = served.learner()
        if place == "/model":
            return _json(HTTPStatus.OK, described(learner))
        return _json(HTTPStatus.OK, answers_to(learner, read_json(body)))
    except LifelongError as error:
        return _failed(HTTPStatus.UNPROCESSABLE_ENTITY, str(error))
    except Exception:
        _log.exception("%s %s", method, place)
        return _failed(HTTPStatus.INTERNAL_SERVER_ERROR, "This is our mistake; the log has more.")


def _page() -> bytes:
    return files("lifelong.serving").joinpath("page.html").read_bytes()


def _json(status: HTTPStatus, content: Any) -> Response:
    return Response(status, json.dumps(content, ensure_ascii=False, allow_nan=False).encode())


def _failed(status: HTTPStatus, reason: str) -> Response:
    return Response(status, json.dumps({"error": reason}).encode())


class _Handler(BaseHTTPRequestHandler):
    """Reads a request whole, and sends its response."""

    server: "LearnerServer"
    protocol_version = "HTTP/1.1"
    timeout = SECONDS

    def do_GET(self) -> None:
        self._send(respond(self.server.served, "GET", self.path, b""))

    def do_POST(self) -> None:
        length = self.headers.get("Content-Length", "")
        if not length.isascii() or not length.isdigit():
            self.close_connection = True
            self._send(_failed(HTTPStatus.LENGTH_REQUIRED, "Send a Content-Length."))
            return
        if int(length) > MOST_BYTES:
            self.close_connection = True
            reason = f"A request has {MOST_BYTES:,} bytes at most. Send fewer rows at once."
            self._send(_failed(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, reason))
            return
        body = self.rfile.read(int(length))
        self._send(respond(self.server.served, "POST", self.path, body))

    def _send(self, response: Response) -> None:
        self.send_response(response.status)
        self.send_header("Content-Type", response.kind)
        self.send_header("Content-Length", str(len(response.content)))
        self.send_header("X-Content-Type-Options", "nosniff")
        self.end_headers()
        self.wfile.write(response.content)

    def log_message(self, format: str, *arguments: Any) -> None:
        """Requests go to the log of this module, not to the terminal."""
        _log.info(format, *arguments)


class LearnerServer(ThreadingHTTPServer):
    """Serves a learner, a thread for each connection.

    Parameters
    ----------
    directory : Path
        Where the learner was saved.
    host : str
        The address to listen at.
    port : int
        0 is one that is free.
    """

    daemon_threads = True
    request_queue_size = 128  # with Python's 5, the sixth who connects at once waits a second

    def __init__(self, directory: Path, host: str, port: int) -> None:
        self.served = Served(directory)
        super().__init__((host, port), _Handler)

    @property
    def url(self) -> str:
        """Where a browser finds it."""
        host, port = self.server_address[:2]
        return f"http://{host!s}:{port}"
