"""Benchmarks as task streams: ``load("spoken-digit")``.

One file per dataset; ``DATASETS`` describes them all.

Raw files are read in their official formats from ``data_dir``, else ``$LIFELONG_DATA``, else the
user cache; a decoded copy is kept in the user cache (``$LIFELONG_CACHE``), so that the second load
takes milliseconds. Nothing is downloaded unless asked for: ``lifelong data fetch NAME``.
"""

from lifelong.tasks.datasets._source import Dataset, Download, Source
from lifelong.tasks.datasets.arrange import arrange
from lifelong.tasks.datasets.catalogue import DATASETS, load

__all__ = ["DATASETS", "Dataset", "Download", "Source", "arrange", "load"]
