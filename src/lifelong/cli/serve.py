"""``lifelong serve``: answers of a saved learner over HTTP, and a page to try it."""

from pathlib import Path
from typing import Annotated

import typer

from lifelong._terminal import console
from lifelong.exceptions import ParameterError

EXAMPLES = (
    "Example: lifelong serve model --port 8000   ·   curl localhost:8000/predict "
    """-d '[{"site": "Lyon", "age": 63}]'"""
)
_OUTSIDE = (
    "Others can reach it: there is no login and no encryption. Put a proxy that has both in front."
)


def serve(
    directory: Annotated[Path, typer.Argument(help="Where a learner was saved.", metavar="DIR")],
    port: Annotated[int, typer.Option(min=0, max=65535, help="0 is one that is free.")] = 8000,
    host: Annotated[
        str, typer.Option(help="The address to listen at. Default: this machine alone.")
    ] = "127.0.0.1",
) -> None:
    """Answer over HTTP: POST rows as JSON to /predict, or open the page in a browser.

    When the directory gets a new version (lifelong learn), that one answers from then on.
    """
    from lifelong.serving.server import LearnerServer

    terminal = console()
    try:
        made = LearnerServer(directory, host, port)
    except OSError as error:
        reason = error.strerror or error
        raise ParameterError(
            f"{host}, port {port}: {reason}. Give another --port; 0 finds one that is free."
        ) from None
    with made as server:
        terminal.print(f"{directory} answers at {server.url} (Ctrl-C ends it)")
        if host not in ("127.0.0.1", "localhost", "::1"):
            terminal.print(_OUTSIDE)
        try:
            server.serve_forever()
        except KeyboardInterrupt:
            terminal.print("ended")
