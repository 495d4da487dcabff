"""What is printed on a terminal: the only place that makes consoles.

Names of tasks, labels, paths and messages come from anywhere. Rich would take ``[red]`` in them for
markup and ``:smile:`` for a picture, and a terminal would obey an escape sequence. A console from
here prints text as it is, and shows what cannot be printed as Python would write it.
"""

from typing import Any

from rich.console import Console
from rich.progress import ProgressColumn, Task
from rich.text import Text

_LAYOUT = {"\n", "\t"}


class PlainConsole(Console):
    """A console without markup: what needs a style is a ``Text``, or printed with ``style=``."""

    def render_str(self, text: str, **options: Any) -> Text:
        """Text for the terminal, also of cells and titles of tables."""
        return super().render_str(printable(text), **{**options, "emoji": False, "markup": False})


def console(*, stderr: bool = False, soft_wrap: bool = True, in_a_pipe: int = 0) -> Console:
    """A console that prints text as it is.

    Parameters
    ----------
    stderr : bool, default False
        Print there instead of on stdout.
    soft_wrap : bool, default True
        Leave long lines to the terminal; False wraps them at its width.
    in_a_pipe : int, default 0
        How wide to print where there is no terminal; 0 leaves it to Rich.
    """
    made = PlainConsole(stderr=stderr, highlight=False, soft_wrap=soft_wrap)
    if in_a_pipe and not made.is_terminal:
        made.width = in_a_pipe
    return made


class Description(ProgressColumn):
    """The column of a progress bar that says what is being done, as it is."""

    def render(self, task: Task) -> Text:
        """Text for the terminal."""
        return Text(printable(task.description))


def printable(text: str) -> str:
    r"""The text with everything that a terminal might obey written out.

    >>> print(printable("Lyon\x1b[31m"))
    Lyon\x1b[31m
    """
    if text.isprintable():
        return text
    return "".join(
        letter if letter.isprintable() or letter in _LAYOUT else repr(letter)[1:-1]
        for letter in text
    )
