"""Raw files against what the official release should have.

A subset is reported as a subset, damage is an error.
"""

from dataclasses import dataclass
from pathlib import Path

from lifelong.tasks.datasets._cache import decoded, file_checksum
from lifelong.tasks.datasets._source import Dataset, Source, subset_note


@dataclass(frozen=True)
class Finding:
    """One thing that was checked."""

    source: str
    what: str
    result: str


def check_dataset(dataset: Dataset, data_dir: str | Path | None = None) -> list[Finding]:
    """Counts and checksums of every source; raises where a file is missing or damaged."""
    return [finding for source in dataset.sources for finding in check_source(source, data_dir)]


def check_source(source: Source, data_dir: str | Path | None = None) -> list[Finding]:
    """Every file is decoded (or was, with the same checksum): what is reported can be loaded."""
    folder = source.require(data_dir)
    arrays = decoded(source, data_dir, **source.settings)
    rows = {
        name.removeprefix("y_"): len(array)
        for name, array in arrays.items()
        if name.startswith("y_")
    }
    counts = {split: rows.get(split, sum(rows.values())) for split in source.parts}
    findings = [
        Finding(source.name, f"{split} rows", subset_note(counts[split], official))
        for split, official in source.parts.items()
    ]
    return findings + [
        Finding(source.name, name, _compare(folder / name, published))
        for name, published in source.checksums.items()
        if (folder / name).is_file()
    ]


def _compare(path: Path, published: str) -> str:
    algorithm, _, expected = published.partition(":")
    found = file_checksum(path, algorithm)
    if found == expected:
        return f"{algorithm} as published"
    return f"{algorithm} {found}, not the official file"
