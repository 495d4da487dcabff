"""Plain Python as tables: a dict of columns, or a list of dicts, one for each row (JSON)."""

from collections.abc import Mapping, Sequence
from typing import Any

from scipy.sparse import issparse

from lifelong._validation import check_unmasked
from lifelong.exceptions import InputError
from lifelong.rows.series import SomeValues, values_and_kind
from lifelong.rows.table import PAGE, Table


def is_columns(X: Any) -> bool:
    """Whether X is a dict of columns. (A sparse matrix of scipy's kind ``dok`` is a dict, too.)

    >>> is_columns({"age": [63]}), is_columns([63])
    (True, False)
    """
    return isinstance(X, Mapping) and not issparse(X)


def is_records(X: Any) -> bool:
    """Whether X is a list of dicts.

    >>> is_records([{"age": 63}]), is_records([[63]]), is_records([])
    (True, False, False)
    """
    return isinstance(X, list | tuple) and len(X) > 0 and isinstance(X[0], Mapping)


def from_records(records: Sequence[Any]) -> Table:
    """A list of dicts as a table: what a dict does not have is missing in its row.

    >>> from_records([{"age": 63, "sex": "f"}, {"age": 50}]).column("sex").objects().tolist()
    ['f', None]
    """
    names: dict[str, None] = {}
    for row, record in enumerate(records):
        if not isinstance(record, Mapping):
            raise InputError(
                f"Row {row} is a {type(record).__name__}, and the rows before are dicts.", see=PAGE
            )
        names.update(dict.fromkeys(record))
    columns = {name: [record.get(name) for record in records] for name in names}
    return from_columns(columns)


def from_columns(columns: Mapping[Any, Any]) -> Table:
    """A dict of columns as a table.

    >>> from_columns({"age": [63, None], "sex": ["f", "m"]})
    Table(2 rows: 'age', 'sex')
    """
    found: dict[str, SomeValues] = {}
    for name, values in columns.items():
        if isinstance(values, str) or not hasattr(values, "__len__"):
            raise InputError(
                f"Column {name!r} is a {type(values).__name__}, not a list of values. One row is a"
                " list with one dict: [row].",
                see=PAGE,
            )
        check_unmasked(values, f"column {name!r}")
        if str(name) in found:
            raise InputError(
                f"The table has two columns called {str(name)!r}. Rename one of them.", see=PAGE
            )
        found[str(name)] = values_and_kind(values, str(name))
    lengths = {name: len(each.values) for name, each in found.items()}
    n_rows = max(lengths.values(), default=0)
    if not n_rows:
        raise InputError(f"The table has 0 rows and {len(found)} columns.", see=PAGE)
    for name, length in lengths.items():
        if length != n_rows:
            raise InputError(
                f"Column {name!r} has {length} values, and another one has {n_rows}.", see=PAGE
            )
    booleans = frozenset(name for name, each in found.items() if each.is_boolean)
    return Table({name: each.values for name, each in found.items()}, booleans, n_rows)
