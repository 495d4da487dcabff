"""Which versions of packages are installed."""

from importlib.metadata import PackageNotFoundError, version


def installed(*packages: str) -> dict[str, str]:
    """Their versions; a package that is not there is left out.

    >>> list(installed("numpy", "no-such-package"))
    ['numpy']
    """
    found = {}
    for package in packages:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found
