"""One cluster of each kind for all tests: a Ray cluster takes half a minute to start."""

import os
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE), str(HERE.parent / "experiments")]  # clusters, deadly, tiny
os.environ["RAY_AUTH_MODE"] = "disabled"  # as in clusters.py; before ray is imported


@pytest.fixture(scope="session", params=["ray", "dask"])
def cluster(request):
    from clusters import DaskCluster, RayCluster

    started = {"ray": RayCluster, "dask": DaskCluster}[request.param]()
    yield started
    started.stop()


@pytest.fixture(scope="module")
def connected(cluster):
    """Parallel work of the tests runs on the cluster. (Ray ends a process that is connected when
    the head dies.)
    """
    import lifelong

    with lifelong.engine(cluster.engine, cluster.address):
        yield cluster
