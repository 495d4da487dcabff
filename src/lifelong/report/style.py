"""How figures look: thin lines, few colours that read on light and dark paper, and SVG that can
stand in a page.
"""

import io
import re
from collections.abc import Sequence
from pathlib import Path
from textwrap import fill
from typing import Any

import matplotlib as mpl
from matplotlib.figure import Figure

from lifelong._terminal import printable

INK = "#1f2328"
GREY = "#8b949e"
_OURS = {"silly-n": "#d1495b", "silly-f": "#2a78b8"}
FIXED = {**_OURS, "single": "#9a8c7c", "rf": "#7d8a97"}
"""Learners that have the same colour in every figure, ours and those they are compared with."""
_OTHERS = ("#3a9d6e", "#c98a1b", "#8a63c9", "#2f9fb0", "#b0568f", "#7f8f2a", "#5a72c4", "#b5663a")
_MANY = "#5f8296"  # when there are more learners than colours
_INCH = 72  # points


def colour_of(label: str, labels: Sequence[str]) -> str:
    """A learner's colour: a fixed one if it has one, else by its place among the others."""
    if label in FIXED:
        return FIXED[label]
    if len(labels) > len(_OTHERS) + 4:
        return next((colour for name, colour in _OURS.items() if label.startswith(name)), _MANY)
    others = [other for other in labels if other not in FIXED]
    return _OTHERS[others.index(label) % len(_OTHERS)]


def new_figure(width: float, height: float) -> Figure:
    """An empty figure; sizes in inches. Nothing here touches matplotlib's global state."""
    return Figure(figsize=(width, height), layout="constrained")


def in_figure(text: object, most: int = 200) -> str:
    r"""A name for a figure: ``$`` begins no formula, and control characters are written out.

    What has more than ``most`` letters is cut: a long name would leave no room for the data.

    >>> in_figure("5$ or 6$"), in_figure("Saint-Germain-en-Laye", most=10)
    ('5\\$ or 6\\$', 'Saint-Ger…')
    """
    shown = printable(str(text))
    if len(shown) > most:
        shown = f"{shown[: most - 1]}…"
    return shown.replace("$", r"\$")


def plain(
    axis: Any, *, title: str = "", xlabel: str = "", ylabel: str = "", title_width: int = 46
) -> None:
    """Two spines, labels that a phone can show, a title on the left in lines of so many letters."""
    for side in ("top", "right"):
        axis.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        axis.spines[side].set_color(GREY)
    axis.tick_params(labelsize=9, labelcolor=INK, color=GREY)
    axis.set_title(in_figure(fill(title, title_width)), fontsize=10, color=INK, loc="left")
    axis.set_xlabel(in_figure(xlabel), fontsize=9.5, color=INK)
    axis.set_ylabel(in_figure(ylabel), fontsize=9.5, color=INK)


def _settled(figure: Figure) -> Figure:
    """The figure with its parts in place, once: finding their places takes longer than drawing."""
    if figure.get_layout_engine() is not None:
        figure.draw_without_rendering()
        figure.set_layout_engine("none")
    return figure


def write(figure: Figure, path: Path) -> list[Path]:
    """The figure as SVG and PNG; the same figure gives the same bytes."""
    svg = write_svg(figure, path)
    png = path.with_suffix(".png")
    figure.savefig(png, dpi=150)
    return [svg, png]


def write_svg(figure: Figure, path: Path) -> Path:
    """The figure as SVG on white paper; text is text: small files that can be searched."""
    path.parent.mkdir(parents=True, exist_ok=True)
    file = path.with_suffix(".svg")
    file.write_text(_svg(figure, path.name), encoding="utf-8")
    return file


def inline_svg(figure: Figure, *, name: str, alt: str) -> str:
    """The figure as an SVG element for a page: text is text, ink takes the page's colour, the
    background its paper.
    """
    svg = _svg(figure, name, transparent=True)
    svg = svg[svg.index("<svg") :].replace(INK, "currentColor")
    svg = re.sub(r'(<svg\b[^>]*?) width="[^"]*"', r"\1", svg, count=1)
    svg = re.sub(r'(<svg\b[^>]*?) height="[^"]*"', r"\1", svg, count=1)
    svg = _private_names(svg, name)
    width = figure.get_figwidth() * _INCH
    return svg.replace(
        "<svg", f'<svg role="img" aria-label="{_escape(alt)}" style="max-width:{width:.0f}pt"', 1
    )


def _svg(figure: Figure, name: str, transparent: bool = False) -> str:
    buffer = io.StringIO()
    with mpl.rc_context({"svg.hashsalt": name, "svg.fonttype": "none"}):
        no_date = {"Date": None}
        _settled(figure).savefig(buffer, format="svg", transparent=transparent, metadata=no_date)
    return lighter(buffer.getvalue())


def lighter(svg: str) -> str:
    """The same picture in fewer bytes: no metadata, places and opacities to two digits, and short
    names for marks, which a figure may use thousands of times.

    >>> lighter('<use xlink:href="#C0_0_fc36ace831" x="1.23456" style="fill-opacity: 0.123456"/>')
    '<use xlink:href="#C0_0" x="1.23" style="fill-opacity: 0.12"/>'
    """
    svg = re.sub(r"<metadata>.*?</metadata>", "", svg, flags=re.DOTALL)
    svg = re.sub(r"(fill-opacity: \d+\.\d\d)\d+", r"\1", svg)
    svg = re.sub(r'((?:id="|href="#)C[0-9a-f]+_[0-9a-f]+)_[0-9a-f]{10}"', r'\1"', svg)
    svg = re.sub(r'\b(?:d|x|y)="[^"]*"', _rounded, svg)
    return _marks_once(re.sub(r"\n\s+", "\n", svg))


def _marks_once(svg: str) -> str:
    """Each shape of a mark is there once, whoever draws it."""
    first: dict[str, str] = {}
    same: dict[str, str] = {}

    def kept(found: re.Match[str]) -> str:
        name, shape = found.groups()
        same[name] = first.setdefault(shape, name)
        return found[0] if same[name] == name else ""

    svg = re.sub(r'<path id="(C[0-9a-f]+_[0-9a-f]+)" d="([^"]*)"/>', kept, svg)
    return re.sub(
        r'href="#(C[0-9a-f]+_[0-9a-f]+)"',
        lambda found: f'href="#{same.get(found[1], found[1])}"',
        svg,
    )


def _rounded(attribute: re.Match[str]) -> str:
    """The places of an attribute to a hundredth of a point, which nobody can see."""
    return re.sub(r"\d+\.\d{3,}", lambda number: f"{float(number[0]):.2f}", attribute[0])


def _private_names(svg: str, name: str) -> str:
    """Names within the SVG made unique, so that many can stand in one page."""
    prefix = re.sub(r"[^a-z0-9]+", "-", name.lower())
    svg = re.sub(r'\bid="([^"]+)"', rf'id="{prefix}-\1"', svg)
    svg = re.sub(r"url\(#([^)]+)\)", rf"url(#{prefix}-\1)", svg)
    return re.sub(r'href="#([^"]+)"', rf'href="#{prefix}-\1"', svg)


def _escape(text: str) -> str:
    return (
        text.replace("&", "&amp;").replace('"', "&quot;").replace("<", "&lt;").replace(">", "&gt;")
    )
