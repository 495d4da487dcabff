"""Messages as Flower's records, and back: whatever a stranger's records hold, the outcome is a
message or one error.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from flwr.app import Array, ArrayRecord, ConfigRecord, RecordDict

from lifelong.exceptions import InputError
from lifelong.federated.messages import PROTOCOL, Files, Reply, Request, one_line

_TEXT = "exchange"
_FILES = "encoders"
# How an array's bytes are to be read: as a file of ours, not as numpy's.
_STYPE = "lifelong.encoder"


def request_to_records(request: Request) -> RecordDict:
    """For a site."""
    return _records({"known": sorted(request.known)}, request.encoders)


def request_from_records(records: RecordDict) -> Request:
    """What the hub asks, checked."""
    text = _text(records)
    return Request(_files(records), frozenset(_names(text, "known")))


def reply_to_records(reply: Reply) -> RecordDict:
    """For the hub."""
    text = {
        "site": reply.site,
        "has": sorted(reply.has),
        "refused": list(reply.refused),
        "reasons": [one_line(reason) for reason in reply.refused.values()],
    }
    return _records(text, reply.encoders)


def reply_from_records(records: RecordDict) -> Reply:
    """What a site says, checked."""
    text = _text(records)
    refused = _names(text, "refused")
    reasons = _names(text, "reasons")
    if len(refused) != len(reasons) or not isinstance(text.get("site"), str):
        raise InputError("It sent something else than a reply of this exchange.")
    return Reply(
        str(text["site"]),
        _files(records),
        frozenset(_names(text, "has")),
        dict(zip(refused, reasons, strict=True)),
    )


def _records(text: Mapping[str, Any], files: Files) -> RecordDict:
    arrays = {
        name: Array(dtype="uint8", shape=(len(content),), stype=_STYPE, data=content)
        for name, content in files.items()
    }
    return RecordDict(
        {_TEXT: ConfigRecord({"protocol": PROTOCOL, **text}), _FILES: ArrayRecord(arrays)}
    )


def _text(records: RecordDict) -> Mapping[str, Any]:
    text: Mapping[str, Any] | None = records.config_records.get(_TEXT)
    if text is None or "protocol" not in text:
        raise InputError("It sent something else than a message of this exchange.")
    if text["protocol"] != PROTOCOL:
        raise InputError(
            f"It speaks version {one_line(str(text['protocol']))} of the exchange, and this side"
            f" version {PROTOCOL}. Install the same version of lifelong on both sides."
        )
    return text


def _files(records: RecordDict) -> dict[str, bytes]:
    arrays: Iterable[tuple[str, Array]] = records.array_records.get(_FILES, ArrayRecord({})).items()
    return {name: array.data for name, array in arrays if array.stype == _STYPE}


def _names(text: Mapping[str, Any], key: str) -> list[str]:
    names = text.get(key)
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise InputError(f"It sent no list of names called {key!r}.")
    return names
