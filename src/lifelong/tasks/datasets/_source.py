"""What is known about raw files (a source) and about a benchmark made from them (a dataset)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lifelong._places import data_directory
from lifelong.exceptions import DatasetError
from lifelong.tasks.base import TaskStream


@dataclass(frozen=True)
class Download:
    """One official file to fetch.

    Parameters
    ----------
    url : str
    to : str
        Where it goes below the data directory: a file's name, or for an archive the folder that it
        is unpacked to.
    size : int
        Bytes; 0 where the official pages give none.
    checksum : str
        ``md5:…`` or ``sha256:…`` as published; empty where nothing is published.
    unpack : bool
        Whether it is an archive.
    """

    url: str
    to: str
    size: int = 0
    checksum: str = ""
    unpack: bool = False

    @property
    def file_name(self) -> str:
        """The name under which the file itself is kept."""
        return self.url.rsplit("/", 1)[-1]


@dataclass(frozen=True)
class Source:
    """Raw files in one folder, as officially released, or a subset of them in the same format.

    ``files`` lists the raw files of a folder, ``decode(folder, scratch, **settings)`` reads them
    and writes ``X_<part>.npy`` and ``y_<part>.npy`` into ``scratch``, and ``parts`` says how many
    rows each part officially has.
    """

    name: str
    folders: tuple[str, ...]  # below the data directory; the first that exists is read
    home: str
    licence: str
    citation: str
    parts: Mapping[str, int]
    files: Callable[[Path], list[Path]]
    decode: Callable[..., None]
    settings: Mapping[str, Any] = field(
        default_factory=dict
    )  # of ``decode``, as the benchmarks use it
    downloads: tuple[Download, ...] = ()
    checksums: Mapping[str, str] = field(default_factory=dict)  # official file → "md5:…"
    hint: str = ""  # what to put where, when nothing can be downloaded
    file: str = ""  # the one file of the folder that is read; default: the folder is this source's

    def folder(self, data_dir: str | Path | None = None) -> Path | None:
        """The folder that holds the raw files, or None."""
        root = data_directory(data_dir)
        return next((root / name for name in self.folders if self._is_in(root / name)), None)

    def _is_in(self, folder: Path) -> bool:
        if self.file:
            return (folder / self.file).is_file()
        return folder.is_dir()

    def size_on_disk(self, data_dir: str | Path | None = None) -> int:
        """Bytes of the raw files that are there."""
        folder = self.folder(data_dir)
        if folder is None:
            return 0
        files = list(folder.rglob("*"))
        if self.file:
            files = [folder / self.file]
        return sum(path.stat().st_size for path in files if path.is_file())

    def require(self, data_dir: str | Path | None = None) -> Path:
        """The folder that holds the raw files, or an error that says what to put where."""
        folder = self.folder(data_dir)
        if folder is None:
            raise DatasetError(
                f"{self.name} is not in {data_directory(data_dir)}. {self.advice(data_dir)}",
                see="datasets",
            )
        return folder

    def advice(self, data_dir: str | Path | None = None) -> str:
        """What to put where."""
        target = data_directory(data_dir) / self.folders[0]
        if self.hint:
            return f"{self.hint} Put it into {target}, or set LIFELONG_DATA to where it is."
        urls = ", ".join(download.url for download in self.downloads)
        unpacked = " (unpacked)" if any(download.unpack for download in self.downloads) else ""
        return f"Put {urls}{unpacked} into {target}, or set LIFELONG_DATA to where it is."


@dataclass(frozen=True)
class Dataset:
    """A benchmark: which loader makes its stream from which sources.

    Parameters
    ----------
    name : str
        As in ``load(name)`` and ``lifelong data show NAME``.
    loader : function
        ``loader(data_dir, *, random_state, **options)`` → TaskStream; one without sources takes no
        ``data_dir``.
    tasks, classes : int
        How many there are by default, classes in all tasks together; 0 classes where the target is
        a number.
    shape : tuple
        Of a row; of a table, how many columns it has.
    sources : Sources
        The raw files it reads; none where it needs no files.
    what : str
        What it is, in one line.
    terms : str, default ""
        The licence of rows that need no files.
    is_table : bool, default False
        Whether a row is one of a table, and no picture.
    """

    name: str
    loader: Callable[..., TaskStream]
    tasks: int
    classes: int
    shape: tuple[int, ...]
    sources: tuple[Source, ...]
    what: str
    terms: str = ""
    is_table: bool = False

    @property
    def rows(self) -> int:
        """Rows of the official release."""
        if not self.sources:  # needs no files, so it can be counted
            return sum(len(task.y_train) + len(task.y_test) for task in self.loader())
        return sum(sum(source.parts.values()) for source in self.sources)

    @property
    def licence(self) -> str:
        """The licences of its sources, or its own terms."""
        licences = dict.fromkeys(source.licence for source in self.sources)
        return "; ".join(licences) or self.terms

    def size_on_disk(self, data_dir: str | Path | None = None) -> int:
        """Bytes of the raw files that are there."""
        return sum(source.size_on_disk(data_dir) for source in self.sources)

    def missing(self, data_dir: str | Path | None = None) -> list[Source]:
        """The sources whose folder is not there."""
        return [source for source in self.sources if source.folder(data_dir) is None]


def subset_note(found: int, official: int) -> str:
    """How a count compares with the official one.

    >>> subset_note(10, 100), subset_note(100, 100), subset_note(101, 100)
    ('a subset: 10 of 100', 'complete: 100', '101, more than the official 100')
    """
    if found == official:
        return f"complete: {found:,}"
    if found < official:
        return f"a subset: {found:,} of {official:,}"
    return f"{found:,}, more than the official {official:,}"
