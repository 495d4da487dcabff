"""The hub between sites: it checks what they send, remembers who has what, and learns nothing."""

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory

from lifelong.exceptions import InputError, LifelongError, PersistenceError
from lifelong.federated.messages import (
    MAX_BYTES,
    MAX_TOTAL_BYTES,
    Files,
    Reply,
    Request,
    check_reply,
    check_site_name,
    one_line,
    site_of,
)
from lifelong.persistence.exchange import import_encoder


@dataclass(frozen=True)
class Shared:
    """An encoder that has passed all checks."""

    content: bytes
    checksum: str  # the same for the same encoder in whatever file


MAX_REFUSALS = 1000
"""Lines about what was refused that are kept: a site that floods the hub must not fill memory."""


class Hub:
    """Who has sent what, who still lacks what.

    Parameters
    ----------
    max_bytes : int, default 100 MB
        Larger encoders are refused.
    max_encoders : int, default 100
        At most so many per site, so that none can flood the others. Of one reply, no more than so
        many are looked at.
    max_total_bytes : int, default 2 GiB
        All encoders together. A site that leaves and comes back under other names could otherwise
        fill the hub's memory.

    Attributes
    ----------
    encoders : dict
        Every encoder that has passed all checks, by its name ``site/task``; those of sites that
        have left stay.
    sites : dict
        Names of connected sites by node: whatever the network calls a partner.
    refusals : list of str
        One line for everything that was refused, here or by a site: the newest
        :data:`MAX_REFUSALS`.
    n_refusals : int
        How many there have been.
    """

    def __init__(
        self,
        *,
        max_bytes: int = MAX_BYTES,
        max_encoders: int = 100,
        max_total_bytes: int = MAX_TOTAL_BYTES,
    ) -> None:
        self.max_bytes = max_bytes
        self.max_encoders = max_encoders
        self.max_total_bytes = max_total_bytes
        self.encoders: dict[str, Shared] = {}
        self.sites: dict[int, str] = {}
        self.refusals: list[str] = []
        self.n_refusals = 0
        # Names of encoders that were refused and need not come again.
        self._unwanted: frozenset[str] = frozenset()
        # By node: what it has or has refused.
        self._settled: dict[int, frozenset[str]] = {}

    def connected(self, nodes: Collection[int]) -> None:
        """Only these nodes are there now: names of others are free, and their encoders stay."""
        self.sites = {node: site for node, site in self.sites.items() if node in nodes}
        self._settled = {node: names for node, names in self._settled.items() if node in nodes}

    def request(self, node: int) -> Request:
        """What to send to a node: the encoders that it lacks.

        One that has never replied is asked for its own first.
        """
        known = self._unwanted | self.encoders.keys()
        if node not in self.sites:
            return Request(known=known)
        lacks = (
            name
            for name in self.encoders
            if name not in self._settled[node] and site_of(name) != self.sites[node]
        )
        return Request({name: self.encoders[name].content for name in lacks}, known)

    def receive(self, node: int, reply: Reply) -> None:
        """Take a node's reply; what is wrong in it is refused with one line; the rest counts."""
        try:
            reply = check_reply(reply)
            site = self._check_site(node, reply.site)
        except LifelongError as error:
            self.refuse(f"node {node}", error)
            return
        self.sites = self.sites | {node: site}
        for name, reason in islice(reply.refused.items(), MAX_REFUSALS):
            self.refuse(f"site {site!r}", f"it did not take {name!r}: {reason}")
        # More lines than are kept are counted and not made.
        self.n_refusals += max(0, len(reply.refused) - MAX_REFUSALS)
        for name, content in self._looked_at(site, reply).items():
            try:
                self._add(site, name, content)
            except LifelongError as error:
                self.refuse(f"site {site!r}", error)
                if str(name).startswith(f"{site}/") and len(self._unwanted) < MAX_REFUSALS:
                    self._unwanted = self._unwanted | {name}
        # Names that nobody has sent are not kept: a site may claim any number of them.
        settled = (reply.has | reply.refused.keys()) & self.encoders.keys()
        self._settled = self._settled | {node: self._settled.get(node, frozenset()) | settled}

    def _looked_at(self, site: str, reply: Reply) -> Files:
        """The encoders of a reply, or the first of them: each costs the hub a file and its checks,
        so a flood is cut before that.
        """
        n_encoders = len(reply.encoders)
        if n_encoders <= self.max_encoders:
            return reply.encoders
        self.refuse(
            f"site {site!r}",
            f"It sent {n_encoders} encoders at once, and max_encoders={self.max_encoders} per site."
            " The others are not looked at.",
        )
        return dict(islice(reply.encoders.items(), self.max_encoders))

    def refuse(self, who: str, why: Exception | str) -> None:
        """Note one line about something that was refused."""
        self.refusals = [*self.refusals, f"{who}: {one_line(why)}"][-MAX_REFUSALS:]
        self.n_refusals += 1

    def _check_site(self, node: int, name: object) -> str:
        site = check_site_name(name)
        if self.sites.get(node, site) != site:
            raise InputError(
                f"It was called {self.sites[node]!r} and now calls itself {site!r}. Its reply is"
                " refused."
            )
        if site in (other for number, other in self.sites.items() if number != node):
            raise InputError(f"There is a site {site!r} already. Choose another name for this one.")
        return site

    def _add(self, site: str, name: object, content: bytes) -> None:
        """One encoder of a site into the pool, every byte checked."""
        if site_of(name) != site or not isinstance(name, str):
            raise InputError(
                f"Encoder {name!r} does not belong to it. Its encoders are called '{site}/task'."
            )
        if name in self.encoders:
            if content == self.encoders[name].content:
                raise InputError(f"Encoder {name!r} came twice.")
            raise InputError(
                f"Encoder {name!r} came before with other content. The first one stays."
            )
        if Counter(map(site_of, self.encoders))[site] >= self.max_encoders:
            raise InputError(
                f"Encoder {name!r} is too many: max_encoders={self.max_encoders} per site."
            )
        total = sum(len(known.content) for known in self.encoders.values()) + len(content)
        if total > self.max_total_bytes:
            raise InputError(
                f"Encoder {name!r} makes {total} bytes of all encoders together, and"
                f" max_total_bytes={self.max_total_bytes}."
            )
        shared = Shared(content, self._checksum(name, content))
        twin = next(
            (other for other, known in self.encoders.items() if known.checksum == shared.checksum),
            None,
        )
        if twin is not None:
            raise InputError(f"Encoder {name!r} is the same as {twin!r}, which is here already.")
        self.encoders = self.encoders | {name: shared}

    def _checksum(self, name: str, content: bytes) -> str:
        if len(content) > self.max_bytes:
            raise PersistenceError(
                f"Encoder {name!r} has {len(content)} bytes, and max_bytes={self.max_bytes}."
            )
        with TemporaryDirectory() as folder:
            file = Path(folder) / "file"
            file.write_bytes(content)
            try:
                return str(import_encoder(file, max_bytes=self.max_bytes).checksum)
            except PersistenceError as error:
                raise PersistenceError(str(error).replace(str(file), f"Encoder {name!r}")) from None
