"""Which part of an arrangement is full first as tasks grow, for plans on paper."""

from collections.abc import Callable, Mapping
from typing import NamedTuple

Costs = Mapping[str, float]
MOST = 1e12  # tasks; what is not full there never is


class Full(NamedTuple):
    """A part that is full, and with how many tasks."""

    part: str
    tasks: float


def first_full(cost_of: Callable[[float], Costs], limits: Costs) -> Full:
    """The part that reaches its limit with the fewest tasks; costs grow with tasks."""
    found = [Full(part, _tasks_at(cost_of, part, limits[part])) for part in limits]
    return min(found, key=lambda full: full.tasks)


def _tasks_at(cost_of: Callable[[float], Costs], part: str, limit: float) -> float:
    """How many tasks fill the part, by bisection of their logarithm."""
    few = 1.0
    many = MOST
    if cost_of(many)[part] <= limit:
        return many
    while many / few > 1.001:
        between = (few * many) ** 0.5
        if cost_of(between)[part] > limit:
            many = between
        else:
            few = between
    return many


def verdict(full: Full, n_tasks: float) -> str:
    """In a cell of a table."""
    said = f"{full.part}, at {_rounded(full.tasks)} tasks"
    if full.tasks >= MOST:
        said = "nothing"
    if full.tasks >= n_tasks:
        return f"{said}; **fits**"
    return said


def _rounded(tasks: float) -> str:
    """Two digits: more would say more than is known."""
    return f"{float(f'{tasks:.2g}'):,.0f}"
