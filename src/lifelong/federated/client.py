"""Flower's ClientApp of a site; ``flower-supernode --node-config`` says which.

For example ``--node-config 'site="lyon" directory="…"'``.
"""

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from flwr.app import Context, Error, Message
from flwr.clientapp import ClientApp

from lifelong.exceptions import InputError, LifelongError
from lifelong.federated.messages import MAX_BYTES, MAX_OTHERS, one_line
from lifelong.federated.records import reply_to_records, request_from_records
from lifelong.federated.site import Site

log = logging.getLogger("flwr")  # Flower shows this one
app = ClientApp()
_REFUSED = 101  # Flower's own codes of errors are small numbers


def exchange(message: Message, context: Context) -> Message:
    """Take encoders of other sites and give one's own.

    No row, label or count of rows is in the reply.
    """
    try:
        reply = site_from(context).answer(request_from_records(message.content))
    except LifelongError as error:
        log.error("lifelong: %s", one_line(error))
        # The line may name folders of this machine, so the other side is only told where to look.
        return Message(
            Error(_REFUSED, "The site cannot take part now; its own log says why."),
            reply_to=message,
        )
    for name, reason in reply.refused.items():
        log.warning("lifelong: encoder %r is refused: %s", name, reason)
    return Message(reply_to_records(reply), reply_to=message)


def site_from(context: Context) -> Site:
    """The site in a node's configuration; in a simulation, one of the folders in a folder."""
    settings = context.node_config
    folder = context.run_config.get("simulated-sites")
    if "directory" not in settings and "partition-id" in settings and folder:
        sites = sorted(path for path in Path(str(folder)).iterdir() if path.is_dir())
        directory = sites[int(settings["partition-id"])]
        return Site(directory.name, directory)
    missing = [key for key in ("site", "directory") if not isinstance(settings.get(key), str)]
    if missing:
        raise InputError(
            f"The node's configuration lacks {' and '.join(missing)}. Give --node-config"
            ' \'site="lyon" directory="folder of a saved learner"\' to flower-supernode.'
        )
    return Site(
        str(settings["site"]),
        str(settings["directory"]),
        max_bytes=_limit(settings, "max-bytes", MAX_BYTES),
        max_others=_limit(settings, "max-others", MAX_OTHERS),
    )


def _limit(settings: Mapping[str, Any], key: str, default: int) -> int:
    limit = settings.get(key, default)
    if isinstance(limit, bool) or not isinstance(limit, int) or limit < 1:
        raise InputError(
            f"{key}={limit!r} in the node's configuration is not a whole number above 0."
        )
    return limit


app.train()(exchange)
