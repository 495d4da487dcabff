"""Optional dependencies: one clear line when one is missing."""

from importlib.util import find_spec

from lifelong.exceptions import MissingExtraError


def require(module: str, *, extra: str, for_what: str) -> None:
    """Raise unless ``module`` can be imported; the message names the extra to install."""
    if find_spec(module) is None:
        raise MissingExtraError(
            f"{for_what} needs {module}, which is not installed. Run: pip install"
            f" 'lifelong[{extra}]'.",
            see="quickstart",
        )
