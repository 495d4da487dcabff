"""What comes in: frames of any kind, arrays and images, as checked rows of numbers."""

from lifelong.rows.columns import Column, Columns
from lifelong.rows.frames import Table, Texts, is_frame, names_of_array, table_of, values_of

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
