"""What comes in: frames of any kind, arrays and images, as checked rows of numbers."""

from lifelong.rows.arrays import names_of_array
from lifelong.rows.columns import Column, Columns
from lifelong.rows.frames import is_frame, table_of
from lifelong.rows.series import values_of
from lifelong.rows.table import Table, Texts

__all__ = [
    "Column",
    "Columns",
    "Table",
    "Texts",
    "is_frame",
    "names_of_array",
    "table_of",
    "values_of",
]
