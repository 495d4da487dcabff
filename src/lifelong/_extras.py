"""Optional dependencies: one clear line when one is missing."""

import warnings
from functools import cache
from importlib.util import find_spec
from typing import Any

from lifelong.exceptions import MissingExtraError


def require(module: str, *, extra: str, for_what: str) -> None:
    """Raise unless ``module`` can be imported; the message names the extra to install."""
    if find_spec(module) is None:
        raise MissingExtraError(
            f"{for_what} needs {module}, which is not installed. Run: pip install"
            f" 'lifelong[{extra}]'.",
            see="quickstart",
        )


@cache
def usable_numba() -> Any:
    """The module numba; None where it is not installed, is broken, or shall not compile.

    What it compiles is faster and gives the same bits, so nothing is lost but time.

    Warns
    -----
    RuntimeWarning
        Once, if it is installed and cannot be imported.
    """
    if find_spec("numba") is None:
        return None
    try:
        import numba

        compiles = not numba.config.DISABLE_JIT
    except Exception as error:  # of a numpy that is too new, or of a library that is not there
        reason = (str(error).splitlines() or [type(error).__name__])[0]
        warnings.warn(
            f"numba is installed and cannot be imported, so forests are slower: {reason}",
            RuntimeWarning,
            stacklevel=2,
        )
        return None
    if not compiles:  # loops that are not compiled take far longer than scikit-learn
        return None
    return numba
