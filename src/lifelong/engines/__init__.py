"""Where parallel work runs: on this machine, or as tasks of a Ray or Dask cluster."""

from lifelong.engines.base import Ended, Engine, WorkerDiedError
from lifelong.engines.choice import ENGINES, check_engine, current, engine

__all__ = ["ENGINES", "Ended", "Engine", "WorkerDiedError", "check_engine", "current", "engine"]
