"""Work as Ray tasks. (joblib's Ray backend is a pool of actors, which Ray does not begin again
unless told to.)
"""

import logging
import os
import time
from contextlib import suppress
from copy import deepcopy
from typing import Any

import ray
from ray.exceptions import NodeDiedError, RayError, RayTaskError, TaskUnschedulableError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from lifelong.engines.base import (
    PATIENCE,
    RETRIES,
    Ended,
    Engine,
    Generate,
    Value,
    WorkerDiedError,
    answers,
    check_reachable,
    first_line,
    last_line,
    work,
)
from lifelong.engines.versions import check_versions
from lifelong.exceptions import EngineError

_CHECK_SECONDS = 120.0  # a node starts its first worker in half a minute if it is busy
_COUNT_SECONDS = 10.0  # nodes come and go: their processors are counted again so often


class RayEngine(Engine):
    """A Ray cluster. Large arguments go into its object store once; workers read them uncopied."""

    name = "ray"

    def __init__(self, address: str | None = None, n_workers: int | None = None) -> None:
        super().__init__()
        self._ours = not ray.is_initialized()
        if self._ours:
            _connect(address, n_workers)
        elif address not in (None, "auto"):
            raise EngineError(
                "This process is connected to a Ray cluster already: leave the address out to"
                " use it."
            )
        self.address = ray.get_runtime_context().gcs_address
        self._work = ray.remote(work).options(
            num_returns="streaming", max_retries=RETRIES, num_cpus=1, scheduling_strategy="SPREAD"
        )
        self._running: dict[Any, int] = {}  # generator of references → number
        self._last_answer = time.monotonic()
        self._counted = -_COUNT_SECONDS
        self._count = 1

    @property
    def n_workers(self) -> int:
        now = time.monotonic()
        # Who asks a dead head for its resources waits for minutes.
        if now - self._counted > _COUNT_SECONDS and answers(self.address):
            self._counted = now
            self._count = max(int(ray.cluster_resources().get("CPU", 1)), 1)
        return self._count

    def place(self, value: Value) -> Value:
        placed: Value = ray.put(value)
        return placed

    def check(self) -> None:
        check = ray.remote(num_cpus=0, max_retries=RETRIES)(check_versions)
        places = {node: NodeAffinitySchedulingStrategy(node, soft=False) for node in _alive()}
        asked = {
            check.options(scheduling_strategy=at).remote(self._versions): node
            for node, at in places.items()
        }
        end = time.monotonic() + _CHECK_SECONDS
        while asked:
            for answer in ray.wait(list(asked), timeout=1.0)[0]:
                del asked[answer]
                try:
                    ray.get(answer)
                except (TaskUnschedulableError, NodeDiedError):
                    # The node has gone: Ray needs a while to notice, and then nobody works there.
                    continue
                except RayError as error:
                    raise _cause(error) from None
            asked = {answer: node for answer, node in asked.items() if node in _alive()}
            if asked and time.monotonic() > end:
                raise EngineError(
                    f"A node of the Ray cluster at {self.address} did not answer for two minutes."
                )

    def close(self) -> None:
        if self._ours:
            ray.shutdown()

    def _start(self, number: int, generate: Generate, row: tuple[Any, ...]) -> None:
        self._running[self._work.remote(self._versions, generate, *row)] = number

    def _next(self) -> list[tuple[int, Any]]:
        ready, _ = ray.wait(list(self._running), timeout=1.0, fetch_local=True)
        if ready:
            self._last_answer = time.monotonic()
            return [self._event(events) for events in ready]
        if answers(self.address):
            self._last_answer = time.monotonic()
        elif time.monotonic() - self._last_answer > PATIENCE:
            raise self._lost()
        return []

    def _event(self, events: Any) -> tuple[int, Any]:
        number = self._running[events]
        try:
            # A copy: arrays of Ray are views of its memory, which goes when the cluster does.
            return number, deepcopy(ray.get(next(events)))
        except StopIteration:
            error = None
        except RayError as raised:
            error = _cause(raised)
        del self._running[events]
        return number, Ended(error)

    def _stop(self) -> None:
        for events in self._running:
            with suppress(RayError, ValueError):
                ray.cancel(events, force=True)
        self._running = {}


def _alive() -> set[str]:
    return {node["NodeID"] for node in ray.nodes() if node["Alive"]}


def _connect(address: str | None, n_workers: int | None) -> None:
    if address is not None and address.startswith("ray://"):
        raise EngineError(
            f"{address} is for Ray Client, which cannot stream results. Start this process on a"
            " node of the cluster, with address='auto', or with: ray job submit."
        )
    if address not in (None, "auto"):
        check_reachable("Ray", str(address), "ray start --head")
    options: dict[str, Any] = {"address": address}
    if address is None and not os.environ.get("RAY_ADDRESS"):
        # A cluster that we start tells nobody about it.
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        options = {"address": "local", "num_cpus": n_workers, "include_dashboard": False}
    try:
        ray.init(**options, log_to_driver=False, logging_level=logging.ERROR)
    except (ConnectionError, RuntimeError, ValueError, OSError) as error:
        raise EngineError(
            f"Ray at {address or 'this machine'} does not take us: {first_line(error)}"
        ) from None


def _cause(error: RayError) -> Exception:
    """What the work itself raised, or that its worker died."""
    cause = None
    if isinstance(error, RayTaskError):
        cause = error.cause
    if isinstance(cause, Exception) and not isinstance(cause, RayError):
        return cause
    if cause is not None:  # Ray's own: most often a module that is missing on the node
        return EngineError(f"A worker could not read its work: {last_line(cause)}")
    return WorkerDiedError(
        f"{RETRIES + 1} workers died of it, the last one so: {first_line(error)}"
    )
