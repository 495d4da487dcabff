"""A contact sheet: a row of pictures per task, to see at a glance whether a stream looks right."""

import math
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from lifelong._extras import require
from lifelong._validation import Rows, check_count
from lifelong.exceptions import InputError
from lifelong.tasks.base import Task, TaskStream

_LABEL = 110  # pixels for the task's name at the left
_GAP = 2


def contact_sheet(
    stream: TaskStream, path: str | Path, *, columns: int = 20, max_tasks: int = 60
) -> Path:
    """Write a PNG with a row per task (the first ``max_tasks``), pictures of its classes in turn;
    returns the path.
    """
    require("PIL", extra="data", for_what="A contact sheet")
    from PIL import Image, ImageDraw

    check_count(columns, "columns")
    names = stream.names[:max_tasks]
    if not names:
        raise InputError("The stream has no tasks to show.")
    strips = [_strip(stream.named(name), columns) for name in names]  # (height, width, 3) each
    height, width = strips[0].shape[:2]
    sheet = Image.new("RGB", (_LABEL + width, len(strips) * (height + _GAP)), "white")
    pen = ImageDraw.Draw(sheet)
    for row, (name, strip) in enumerate(zip(names, strips, strict=True)):
        top = row * (height + _GAP)
        sheet.paste(Image.fromarray(strip), (_LABEL, top))
        pen.text((4, top + height // 2 - 6), str(name), fill="black")
    target = Path(path)
    target.parent.mkdir(parents=True, exist_ok=True)
    sheet.save(target, format="PNG")
    return target


def _strip(task: Task, columns: int) -> NDArray[np.uint8]:
    """Pictures side by side: the first of each class, then the second of each, …"""
    images = as_images(task.X_train)
    by_class = [np.flatnonzero(task.y_train == label) for label in task.classes]
    deepest = max(map(len, by_class))
    turns = [rows[turn] for turn in range(deepest) for rows in by_class if turn < len(rows)][
        :columns
    ]
    chosen = images[turns]  # (n, 3, h, w)
    low = float(images.min())
    high = float(images.max())
    scaled = np.rint((chosen - low) / max(high - low, 1e-12) * 255).astype(np.uint8)
    zoom = max(1, round(32 / scaled.shape[-1]))  # 8×8 digits would be too small to see
    scaled = scaled.repeat(zoom, axis=2).repeat(zoom, axis=3)
    padded = np.pad(
        scaled, ((0, columns - len(scaled)), (0, 0), (0, 0), (0, _GAP)), constant_values=255
    )
    return np.ascontiguousarray(padded.transpose(2, 0, 3, 1).reshape(padded.shape[2], -1, 3))


def as_images(X: Rows) -> Rows:
    """Rows as colour images (n, 3, h, w); flat rows are folded into squares if they fit.

    >>> as_images(np.zeros((5, 3072), dtype=np.float32)).shape
    (5, 3, 32, 32)
    """
    if X.ndim == 2:
        channels = (
            3 if X.shape[1] % 3 == 0 and math.isqrt(X.shape[1] // 3) ** 2 * 3 == X.shape[1] else 1
        )
        side = math.isqrt(X.shape[1] // channels)
        if channels * side**2 != X.shape[1]:
            raise InputError(
                f"Rows of {X.shape[1]} numbers are no pictures: they do not fold into a square."
            )
        X = X.reshape(len(X), channels, side, side)
    if X.shape[1] == 1:
        return np.repeat(X, 3, axis=1)
    return X[:, :3]
