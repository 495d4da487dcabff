"""Streams from what people already have: tables, folders of images, other libraries' datasets."""

from lifelong.tasks.sources.folders import from_image_folders
from lifelong.tasks.sources.frames import from_frame, from_table
from lifelong.tasks.sources.others import (
    from_avalanche,
    from_hugging_face,
    from_torch,
    from_torch_classes,
    rows_of,
)

__all__ = [
    "from_avalanche",
    "from_frame",
    "from_hugging_face",
    "from_image_folders",
    "from_table",
    "from_torch",
    "from_torch_classes",
    "rows_of",
]
