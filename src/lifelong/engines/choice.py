"""``with lifelong.engine(...)``: who does the parallel work inside the block."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from lifelong._extras import require
from lifelong._validation import check_choice, check_count
from lifelong.engines.base import Engine
from lifelong.exceptions import ParameterError

_PACKAGES = {"ray": "ray", "dask": "distributed"}
ENGINES = ("local", *_PACKAGES)
_current: ContextVar[Engine | None] = ContextVar("lifelong engine", default=None)


def current() -> Engine | None:
    """The cluster that does parallel work now; None: this machine's own processes."""
    return _current.get()


@contextmanager
def engine(
    name: str = "local", address: str | None = None, *, n_workers: int | None = None
) -> Iterator[None]:
    """Inside the block parallel work runs on another engine; results are the same, bit for bit.

    :meth:`~lifelong.Silly.partial_fit_many` trains encoders and updates channels there,
    :func:`~lifelong.evaluate` its repetitions, and ``lifelong run`` repetitions × learners. What
    threads do (the trees of one forest) stays where it is. On a cluster ``n_jobs`` says nothing:
    the engine knows its workers.

    Parameters
    ----------
    name : "local", "ray" or "dask", default "local"
        The last two need an extra: ``pip install 'lifelong[ray]'`` or ``'lifelong[dask]'``.
    address : str, optional
        ``host:port`` of a Ray head (or ``"auto"``) or of a Dask scheduler. Left out: the cluster
        that this process is connected to already, else one that is started on this machine and ends
        with the block.
    n_workers : int, optional
        How many workers a cluster has that is started here; one per core if left out.

    Raises
    ------
    EngineError
        If the cluster cannot be reached, or has other versions of what results depend on.

    Examples
    --------
    >>> import lifelong
    >>> with lifelong.engine("local"):
    ...     pass
    """
    check_engine(name, address)
    chosen = _connect(name, address, n_workers)
    token = _current.set(chosen)
    try:
        if chosen is not None:
            chosen.check()
        yield
    finally:
        _current.reset(token)
        if chosen is not None:
            chosen.close()


def check_engine(name: str, address: str | None = None) -> None:
    """Raise unless there is such an engine and it is installed."""
    check_choice(name, "engine", ENGINES)
    if name == "local" and address is not None:
        raise ParameterError(
            "The local engine has no address: n_jobs says how many processes it uses."
        )
    if name in _PACKAGES:
        require(_PACKAGES[name], extra=name, for_what=f"engine={name!r}")


def _connect(name: str, address: str | None, n_workers: int | None) -> Engine | None:
    if name == "local":
        return None
    check_count(n_workers, "n_workers", optional=True)
    if name == "ray":
        from lifelong.engines.on_ray import RayEngine

        return RayEngine(address, n_workers)
    from lifelong.engines.on_dask import DaskEngine

    return DaskEngine(address, n_workers)
