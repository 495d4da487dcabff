"""What travels between the hub and a site, and how names of encoders are made."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from lifelong.exceptions import InputError

PROTOCOL = 1  # a hub and a site must speak the same
MAX_BYTES = 100_000_000  # of one encoder's file
MAX_TOTAL_BYTES = 2**31  # of all encoders that a hub keeps
MAX_OTHERS = 1000  # encoders of others that a site takes
LONGEST_NAME = 200

Files = Mapping[str, bytes]  # encoders by name, each a file as export_encoder writes it


@dataclass(frozen=True)
class Request:
    """Hub → site: encoders of other sites, and which encoders need not be sent."""

    encoders: Files = field(default_factory=dict)
    known: frozenset[str] = frozenset()  # names of encoders that the hub has or has refused


@dataclass(frozen=True)
class Reply:
    """Site → hub: the site's own encoders that the hub lacks, and what became of the others'."""

    site: str
    encoders: Files = field(default_factory=dict)
    # names of all encoders that the site has now, own and others'
    has: frozenset[str] = frozenset()
    # names of encoders that it did not take, with reasons
    refused: Mapping[str, str] = field(default_factory=dict)


def check_reply(reply: object) -> Reply:
    """A reply whose parts are what they should be; it may come from a stranger.

    >>> check_reply(Reply("lyon", refused={3: "no"}))
    Traceback (most recent call last):
    lifelong.exceptions.InputError: It sent something else than a reply of this exchange.
    """
    sound = (
        isinstance(reply, Reply)
        and _are_texts(reply.has)
        and isinstance(reply.refused, Mapping)
        and _are_texts(reply.refused)
        and _are_texts(reply.refused.values())
        and isinstance(reply.encoders, Mapping)
        and all(isinstance(content, bytes) for content in reply.encoders.values())
    )
    if not sound:
        raise InputError("It sent something else than a reply of this exchange.")
    assert isinstance(reply, Reply)
    return reply


def _are_texts(values: object) -> bool:
    if isinstance(values, str) or not isinstance(values, Iterable):
        return False
    return all(isinstance(value, str) for value in values)


def check_site_name(name: object) -> str:
    """Text that can begin the name of an encoder.

    >>> check_site_name("lyon")
    'lyon'
    """
    if not isinstance(name, str) or not _plain(name) or "/" in name:
        raise InputError(f"{_short(name)} cannot name a site. Use letters and digits, without '/'.")
    return name


def encoder_name(site: str, task: str | int) -> str:
    """What every site but its own calls an encoder.

    >>> encoder_name("lyon", "scans")
    'lyon/scans'
    """
    return f"{site}/{task}"


def site_of(encoder: object) -> str:
    """The site in an encoder's name, which may come from a stranger."""
    if not isinstance(encoder, str) or not _plain(encoder) or "/" not in encoder:
        raise InputError(f"{_short(encoder)} cannot name an encoder. Expected site/task.")
    return check_site_name(encoder.partition("/")[0])


def one_line(error: Exception | str) -> str:
    """The first line, for a log or for the other side; it may be a stranger's, so nothing that
    steers a terminal.
    """
    first = (str(error).splitlines() or [""])[0][:500]
    return "".join(letter if letter.isprintable() else "?" for letter in first)


def _plain(name: str) -> bool:
    return 0 < len(name) <= LONGEST_NAME and name.isprintable() and name == name.strip()


def _short(name: object) -> str:
    text = repr(name)
    if len(text) <= 60:
        return text
    return f"{text[:57]}..."
