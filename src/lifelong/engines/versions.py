"""The versions on which results depend, bit for bit: they must be the same on every node."""

import platform
import socket

from lifelong._versions import installed
from lifelong.exceptions import EngineError

Versions = dict[str, str]
_PACKAGES = ("lifelong", "numpy", "scipy", "scikit-learn", "torch")


def versions_here() -> Versions:
    """Of this process; what is not installed is left out."""
    return {"Python": ".".join(platform.python_version_tuple()[:2]), **installed(*_PACKAGES)}


def check_versions(wanted: Versions) -> None:
    """Raise unless this node has what the process that sent the work has.

    >>> check_versions(versions_here())
    """
    here = versions_here()
    other = [
        f"{package} {here.get(package, 'is missing')}, not {v}"
        for package, v in wanted.items()
        if here.get(package) != v
    ]
    if other:
        raise EngineError(
            f"Node {socket.gethostname()} has other versions than the process that sends it work"
            f" ({'; '.join(other)}): results would differ. Install the same versions on every"
            " node.",
            see="scale",
        )
