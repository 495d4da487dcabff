"""The loops of :mod:`lifelong.encoders.growing_compiled`; importing them takes numba.

A tree is grown as scikit-learn's depth-first builder and best splitter do it, with Gini's impurity.
The columns of a split are drawn by Fisher and Yates's shuffle; those that do not vary in a node are
remembered for all nodes below it. Rows without the number go right in a first search for a split,
and left in a second one.
"""

from collections.abc import Callable
from typing import Any, TypeVar

import numba
import numpy as np

_EPSILON = float(np.finfo("double").eps)
_TIE = np.float32(1e-7)  # numbers that are no further apart are not split
_FEW = 32  # keys that are sorted by insertion
_RANK = 16  # a key is a rank and, in so many bits below it, a class
_CLASS = 2**_RANK - 1
_MISSING = 2**_RANK - 1  # the rank of what is missing
_BYTE = 256

Loop = TypeVar("Loop", bound=Callable[..., Any])


def _compiled(loop: Loop) -> Loop:
    compiled: Loop = numba.njit(nogil=True)(loop)
    return compiled


@_compiled
def next_random(state: Any) -> Any:
    """The next number below 2³¹ of scikit-learn's 32-bit xorshift; ``state`` (1,) goes on."""
    seed = state[0]
    if seed == 0:
        seed = 1
    seed ^= (seed << 13) & 0xFFFFFFFF
    seed ^= seed >> 17
    seed ^= (seed << 5) & 0xFFFFFFFF
    state[0] = seed
    return seed & 0x7FFFFFFF


@_compiled
def gini(squares: Any, n: Any) -> Any:
    """The impurity of n rows whose class counts have this sum of squares."""
    return 1.0 - np.float64(squares) / (np.float64(n) * np.float64(n))


@_compiled
def by_byte(keys: Any, n: Any, shift: Any, firsts: Any, out: Any) -> None:
    """Keys in the order of one of their bytes; those that are equal there keep their order."""
    firsts[:] = 0
    for i in range(n):
        firsts[((keys[i] >> shift) & 0xFF) + 1] += 1
    for byte in range(_BYTE):
        firsts[byte + 1] += firsts[byte]
    for i in range(n):
        byte = (keys[i] >> shift) & 0xFF
        out[firsts[byte]] = keys[i]
        firsts[byte] += 1


@_compiled
def by_insertion(keys: Any, n: Any) -> None:
    """Sort the first keys in place."""
    for i in range(1, n):
        key = keys[i]
        j = i - 1
        while j >= 0 and keys[j] > key:
            keys[j + 1] = keys[j]
            j -= 1
        keys[j + 1] = key


@_compiled
def in_order(keys: Any, n: Any, n_ranks: Any, firsts: Any, spare: Any) -> Any:
    """Keys sorted by their ranks, in one of the two arrays."""
    if n <= _FEW:
        by_insertion(keys, n)
        return keys
    by_byte(keys, n, _RANK, firsts, spare)
    if n_ranks <= _BYTE:
        return spare
    by_byte(spare, n, _RANK + 8, firsts, keys)
    return keys


@_compiled
def read_column(column: Any, rows: Any, keys: Any, lost: Any) -> Any:
    """Copy the keys of rows that have the number; count the classes of the others in ``lost``."""
    lost[:] = 0
    n = 0
    for row in rows:
        key = column[row]
        if key >> _RANK == _MISSING:
            lost[key & _CLASS] += 1
        else:
            keys[n] = key
            n += 1
    return n


@_compiled
def search(
    keys: Any,
    n: Any,
    values: Any,
    total: Any,
    lost: Any,
    n_lost: Any,
    lost_go_left: Any,
    min_leaf: Any,
    left: Any,
) -> Any:
    """The first of the best splits of n sorted keys, -inf if there is none.

    A proxy of its gain, its threshold, how many rows are left of it, and the sums of squared class
    counts on both sides. ``total`` and ``lost`` are class counts of the node and of its rows that
    lack the number; ``left`` is room for those on the left side.
    """
    best = (-np.inf, 0.0, 0, 0, 0)
    n_all = n + n_lost
    n_left = 0
    squares_left = 0
    squares_right = 0
    for c in range(len(total)):
        left[c] = 0
        if lost_go_left:
            left[c] = lost[c]
            n_left += lost[c]
        squares_left += left[c] * left[c]
        squares_right += (total[c] - left[c]) * (total[c] - left[c])
    for i in range(n):
        c = keys[i] & _CLASS
        squares_left += 2 * left[c] + 1
        squares_right -= 2 * (total[c] - left[c]) - 1
        left[c] += 1
        n_left += 1
        if i + 1 == n:
            if lost_go_left or n_lost == 0:
                break
            threshold = np.inf  # all that have the number are left
        else:
            rank = keys[i] >> _RANK
            following = keys[i + 1] >> _RANK
            if rank == following or values[following] <= values[rank] + _TIE:
                continue
            threshold = np.float64(values[rank]) / 2.0 + np.float64(values[following]) / 2.0
        n_right = n_all - n_left
        if n_left < min_leaf or n_right < min_leaf:
            continue
        gain = -n_right * gini(squares_right, n_right) - n_left * gini(squares_left, n_left)
        if gain > best[0]:
            best = (gain, threshold, n_left, squares_left, squares_right)
    return best


@_compiled
def find_split(
    columns: Any,
    values: Any,
    starts: Any,
    rows: Any,
    total: Any,
    features: Any,
    constant: Any,
    n_known: Any,
    max_features: Any,
    min_leaf: Any,
    state: Any,
    room: Any,
) -> Any:
    """The best split of a node over columns drawn at random.

    What :func:`search` says of it, its column, whether rows without the number go left, and how
    many columns do not vary. ``n_known`` are known not to, first in ``constant`` and ``features``.
    """
    keys, spare, firsts, lost, left = room
    best = (-np.inf, 0.0, 0, 0, 0)
    column_of_best = 0
    lost_go_left = False
    n_drawn = 0  # of those known not to vary
    n_found = 0  # that turn out not to vary
    n_visited = 0
    end = len(features)
    while end > n_known + n_found and (n_visited < max_features or n_visited <= n_found + n_drawn):
        n_visited += 1
        j = n_drawn + next_random(state) % (end - n_found - n_drawn)
        if j < n_known:
            features[n_drawn], features[j] = features[j], features[n_drawn]
            n_drawn += 1
            continue
        j += n_found
        column = features[j]
        own = values[starts[column] : starts[column + 1]]
        n = read_column(columns[column], rows, keys, lost)
        n_lost = len(rows) - n
        ordered = in_order(keys, n, len(own), firsts, spare)
        if n == 0 or (n_lost == 0 and _are_equal(own, ordered, n)):
            at = n_known + n_found
            features[j], features[at] = features[at], features[j]
            n_found += 1
            continue
        end -= 1
        features[end], features[j] = features[j], features[end]
        for go_left in range(1 + (n_lost > 0)):
            found = search(ordered, n, own, total, lost, n_lost, go_left == 1, min_leaf, left)
            if found[0] > best[0]:
                best = found
                column_of_best = column
                lost_go_left = go_left == 1
                if n_lost == 0:
                    lost_go_left = 2 * best[2] > len(rows)
    features[:n_known] = constant[:n_known]
    constant[n_known : n_known + n_found] = features[n_known : n_known + n_found]
    return best, column_of_best, lost_go_left, n_known + n_found


@_compiled
def _are_equal(values: Any, ordered: Any, n: Any) -> Any:
    return values[ordered[n - 1] >> _RANK] <= values[ordered[0] >> _RANK] + _TIE


@_compiled
def put_left_first(column: Any, values: Any, threshold: Any, lost_go_left: Any, rows: Any) -> None:
    """Reorder the rows of a node in place: those left of the threshold first."""
    i = 0
    end = len(rows)
    while i < end:
        rank = column[rows[i]] >> _RANK
        goes_left = lost_go_left
        if rank != _MISSING:
            goes_left = values[rank] <= threshold
        if goes_left:
            i += 1
        else:
            end -= 1
            rows[i], rows[end] = rows[end], rows[i]


@_compiled
def grow_tree(
    columns: Any,
    values: Any,
    starts: Any,
    n_classes: Any,
    rows: Any,
    max_features: Any,
    max_depth: Any,
    min_leaf: Any,
    seed: Any,
    nodes: Any,
) -> Any:
    """Write the nodes of a tree, in the order of scikit-learn's; how many there are, how deep.

    Parameters
    ----------
    columns : (p, n) uint32
        Keys: the rank of a row's number in a column, and the row's class.
    values, starts : (m,), (p + 1,)
        The numbers behind the ranks, column after column, and where each column begins.
    rows : (n_rows,)
        The numbers of the rows to grow on; their order is lost.
    nodes : (2 * n_rows,)
        Room for scikit-learn's nodes.
    """
    n_rows = len(rows)
    features = np.arange(len(columns))
    constant = np.empty(len(columns), dtype=np.int64)
    total = np.empty(n_classes, dtype=np.int64)
    state = np.array([seed])
    room = (
        np.empty(n_rows, dtype=np.uint32),
        np.empty(n_rows, dtype=np.uint32),
        np.empty(_BYTE + 1, dtype=np.int64),
        np.empty(n_classes, dtype=np.int64),
        np.empty(n_classes, dtype=np.int64),
    )
    # Nodes to come: first row, end, depth, parent, whether it is a left child, constant columns.
    waiting = np.empty((n_rows + 1, 6), dtype=np.int64)
    impurities = np.empty(n_rows + 1)
    waiting[0] = (0, n_rows, 0, -1, 0, 0)
    impurities[0] = np.inf
    n_waiting = 1
    n_nodes = 0
    deepest = 0
    while n_waiting:
        n_waiting -= 1
        first, end, depth, parent, is_left, n_constant = waiting[n_waiting]
        impurity = impurities[n_waiting]
        n = end - first
        of_node = rows[first:end]
        total[:] = 0
        for row in of_node:
            total[columns[0, row] & _CLASS] += 1
        if n_nodes == 0:
            impurity = gini((total * total).sum(), n)
        is_leaf = depth >= max_depth or n < 2 or n < 2 * min_leaf or impurity <= _EPSILON
        node = nodes[n_nodes]
        if not is_leaf:
            best, column, lost_go_left, n_constant = find_split(
                columns,
                values,
                starts,
                of_node,
                total,
                features,
                constant,
                n_constant,
                max_features,
                min_leaf,
                state,
                room,
            )
            n_left = best[2]
            n_right = n - n_left
            impurity_left = gini(best[3], max(n_left, 1))
            impurity_right = gini(best[4], max(n_right, 1))
            right_part = np.float64(n_right) / n * impurity_right
            left_part = np.float64(n_left) / n * impurity_left
            gain = np.float64(n) / n_rows * (impurity - right_part - left_part)
            is_leaf = best[0] == -np.inf or gain + _EPSILON < 0.0
        if parent >= 0:
            if is_left:
                nodes[parent]["left_child"] = n_nodes
            else:
                nodes[parent]["right_child"] = n_nodes
        node["impurity"] = impurity
        node["n_node_samples"] = n
        node["weighted_n_node_samples"] = n
        node["missing_go_to_left"] = 0
        deepest = max(deepest, depth)
        if is_leaf:
            node["left_child"] = -1
            node["right_child"] = -1
            node["feature"] = -2
            node["threshold"] = -2.0
        else:
            node["feature"] = column
            node["threshold"] = best[1]
            node["missing_go_to_left"] = lost_go_left
            own = values[starts[column] : starts[column + 1]]
            put_left_first(columns[column], own, best[1], lost_go_left, of_node)
            middle = first + n_left
            waiting[n_waiting] = (middle, end, depth + 1, n_nodes, 0, n_constant)
            impurities[n_waiting] = impurity_right
            waiting[n_waiting + 1] = (first, middle, depth + 1, n_nodes, 1, n_constant)
            impurities[n_waiting + 1] = impurity_left
            n_waiting += 2
        n_nodes += 1
    return n_nodes, deepest
