"""Flower's ServerApp: rounds of "here is what you lack, send what I lack" with all connected."""

import logging
import time
from collections.abc import Callable

from flwr.app import Context, Message
from flwr.serverapp import Grid, ServerApp

from lifelong.exceptions import LifelongError, ParameterError
from lifelong.federated.hub import Hub
from lifelong.federated.messages import MAX_BYTES, MAX_TOTAL_BYTES
from lifelong.federated.records import reply_from_records, request_to_records

log = logging.getLogger("flwr")  # Flower shows this one
app = ServerApp()
_EVERY = 1.0  # seconds between two looks at who is connected


def main(grid: Grid, context: Context) -> None:
    """Run the exchange; all settings are in ``[tool.flwr.app.config]``."""
    number = _numbers(context)
    rounds = number("rounds", 2)
    pause = number("pause", 0, least=0)
    timeout = number("timeout", 600)
    hub = Hub(
        max_bytes=number("max-bytes", MAX_BYTES),
        max_encoders=number("max-encoders", 100),
        max_total_bytes=number("max-total-bytes", MAX_TOTAL_BYTES),
    )
    _wait_for(grid, number("sites", 2), number("wait", 300))
    for turn in range(1, rounds + 1):
        play(grid, hub, timeout=timeout, turn=turn)
        if turn < rounds:
            time.sleep(pause)
    log.info(
        "lifelong: %d encoders of %s",
        len(hub.encoders),
        ", ".join(sorted(hub.sites.values())) or "nobody",
    )
    log.info("lifelong: %d refused", hub.n_refusals)


def play(grid: Grid, hub: Hub, *, timeout: float, turn: int) -> None:
    """One round: a site that fails, lies or says nothing is noted, and the others go on."""
    nodes = sorted(grid.get_node_ids())
    hub.connected(nodes)
    requests = [
        Message(
            request_to_records(hub.request(node)), node, "train", ttl=timeout, group_id=str(turn)
        )
        for node in nodes
    ]
    n_refusals = hub.n_refusals
    silent = set(nodes)
    for reply in grid.send_and_receive(requests, timeout=timeout):
        node = reply.metadata.src_node_id
        silent.discard(node)
        if reply.has_error():
            hub.refuse(_called(hub, node), reply.error.reason or f"error {reply.error.code}")
            continue
        try:
            hub.receive(node, reply_from_records(reply.content))
        except LifelongError as error:
            hub.refuse(_called(hub, node), error)
    for node in sorted(silent):
        hub.refuse(_called(hub, node), f"No reply within {timeout:g} seconds.")
    n_new = hub.n_refusals - n_refusals
    for line in hub.refusals[max(len(hub.refusals) - n_new, 0) :]:
        log.warning("lifelong: %s", line)
    log.info("lifelong: round %d, %d sites, %d encoders", turn, len(hub.sites), len(hub.encoders))


def _called(hub: Hub, node: int) -> str:
    if node in hub.sites:
        return f"site {hub.sites[node]!r}"
    return f"node {node}"


def _numbers(context: Context) -> Callable[..., int]:
    def number(key: str, default: int, *, least: int = 1) -> int:
        value = context.run_config.get(key, default)
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise ParameterError(
                f"{key}={value!r} in the run's configuration must be a whole number from"
                f" {least} on."
            )
        return value

    return number


def _wait_for(grid: Grid, sites: int, seconds: int) -> None:
    """Until so many sites are connected, or so long; whoever comes later joins in a later round."""
    end = time.monotonic() + seconds
    while (there := len(list(grid.get_node_ids()))) < sites:
        if time.monotonic() > end:
            log.warning(
                "lifelong: %d of %d sites are connected after %d seconds; going on",
                there,
                sites,
                seconds,
            )
            return
        time.sleep(_EVERY)


app.main()(main)
