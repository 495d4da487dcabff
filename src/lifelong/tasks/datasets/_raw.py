"""Raw files: read within limits, and one error for those that are not what they should be."""

from pathlib import Path

from lifelong.exceptions import DatasetError


def damaged(path: Path | str, found: str, expected: str) -> DatasetError:
    """The error for a file that is not what it should be.

    Parameters
    ----------
    path : path
        Which file.
    found : str
        What is wrong with it.
    expected : str
        What it should have been.
    """
    advice = "Fetch the file again, or delete it."
    return DatasetError(f"{path}: {found}. Expected {expected}. {advice}")


def read_bytes(path: Path, *, limit: int) -> bytes:
    """The whole file; no more than ``limit`` bytes, so that a wrong file cannot fill the memory."""
    try:
        size = path.stat().st_size
        if size > limit:
            raise damaged(path, f"the file has {size:,} bytes", f"at most {limit:,} bytes")
        return path.read_bytes()
    except OSError as error:
        raise DatasetError(
            f"{path} cannot be read: {error.strerror or error}. Check that it is a readable file."
        ) from None
