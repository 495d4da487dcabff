"""A wiretap for federated_speakers.py: it stands between a site and the server and writes down
every byte.

TLS hides what travels from everybody else. Here both ends trust the same throw-away authority, and
the wiretap has its key: it opens what comes from either side, keeps a copy, and encrypts it again.
"""

import contextlib
import socket
import ssl
import threading
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

LOOPBACK = "127.0.0.1"


class Wiretap:
    """A place to connect to instead of the server; ``up`` and ``down`` hold what went through,
    decrypted.
    """

    def __init__(self, certificates: Path, server_port: int) -> None:
        self.up = bytearray()
        self.down = bytearray()
        self._server_port = server_port
        self._inward = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._inward.load_cert_chain(certificates / "server.pem", certificates / "server.key")
        self._outward = ssl.create_default_context(cafile=str(certificates / "ca.pem"))
        self._door = socket.create_server((LOOPBACK, 0))
        self.port = int(self._door.getsockname()[1])
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self) -> None:
        """Accept nobody any more."""
        self._door.close()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):  # the door is closed
            while True:
                threading.Thread(
                    target=self._serve, args=(self._door.accept()[0],), daemon=True
                ).start()

    def _serve(self, caller: socket.socket) -> None:
        with contextlib.suppress(OSError):  # either side may go at any time
            site = self._inward.wrap_socket(caller, server_side=True)
            plain = socket.create_connection((LOOPBACK, self._server_port))
            server = self._outward.wrap_socket(plain, server_hostname=LOOPBACK)
            threading.Thread(target=_pump, args=(server, site, self.down), daemon=True).start()
            _pump(site, server, self.up)


def _pump(source: ssl.SSLSocket, target: ssl.SSLSocket, copy: bytearray) -> None:
    with contextlib.suppress(OSError):
        while content := source.recv(65536):
            copy += content
            target.sendall(content)
    for end in (source, target):
        with contextlib.suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)


def numbers_found(rows: NDArray[np.float32], content: bytes | bytearray) -> int:
    """How many neighbouring pairs of numbers of these rows are somewhere in some bytes, in 32 or 64
    bits.

    Pairs, because one number of 32 bits turns up by chance: there are only four thousand million of
    them.
    """
    pairs = np.lib.stride_tricks.sliding_window_view(
        rows.reshape(len(rows), -1), 2, axis=1
    )  # (n, p - 1, 2)
    found: set[int] = set()  # numbers of pairs
    for kind in ("<f4", "<f8", ">f4", ">f8"):
        number_of = {
            pair.tobytes(): number for number, pair in enumerate(pairs.reshape(-1, 2).astype(kind))
        }
        begins = np.array([np.frombuffer(pair[:8], "<u8")[0] for pair in number_of])
        length = 2 * np.dtype(kind).itemsize
        for offset in range(8):
            windows = np.frombuffer(
                content, "<u8", count=max((len(content) - offset) // 8, 0), offset=offset
            )
            at = np.flatnonzero(np.isin(windows, begins)) * 8 + offset
            here = {bytes(content[start : start + length]) for start in at.tolist()}
            found |= {number_of[pair] for pair in here & number_of.keys()}
    return len(found)
