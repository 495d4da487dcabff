"""The picture that several examples draw: for each task, how good it is alone and how good together
with the others.
"""

from collections.abc import Mapping, Sequence
from pathlib import Path

from lifelong.report.style import GREY, INK, new_figure, plain, write

_COLOURS = (GREY, "#c98a1b", "#2a78b8", "#3a9d6e")


def dumbbells(
    path: Path, accuracies: Mapping[str, Sequence[float]], tasks: Sequence[str], title: str
) -> None:
    """One line per task, one dot per way of learning it, the last one in our colour; written as SVG
    and PNG.
    """
    figure = new_figure(6.4, 0.42 * len(tasks) + 1.5)
    axis = figure.subplots()
    heights = range(len(tasks), 0, -1)
    ways = list(accuracies.items())
    for height, *dots in zip(heights, *accuracies.values(), strict=True):
        axis.plot(
            [min(dots), max(dots)], [height, height], color=GREY, linewidth=1, alpha=0.6, zorder=1
        )
    for (way, dots), colour in zip(ways, _colours(len(ways)), strict=True):
        last = way == ways[-1][0]
        axis.scatter(
            dots,
            list(heights),
            s=62 if last else 40,
            color=colour,
            label=way,
            zorder=3 if last else 2,
        )
    axis.set_yticks(list(heights), list(tasks))
    axis.set_ylim(0.4, len(tasks) + 0.6)
    axis.grid(axis="x", color=GREY, alpha=0.2)
    plain(axis, title=title, xlabel="accuracy on rows that nobody learnt from", title_width=80)
    legend = figure.legend(loc="outside lower center", ncols=len(ways), frameon=False, fontsize=9)
    for text in legend.get_texts():
        text.set_color(INK)
    write(figure, path)
    print(f"Picture: {path.with_suffix('.svg')} and .png")


def _colours(n: int) -> list[str]:
    """Grey first, red last: the way that counts has our colour."""
    return [*_COLOURS[: n - 1], "#d1495b"]
