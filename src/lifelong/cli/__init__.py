"""The command line: one small file per command."""

import errno
from typing import Annotated, Any

import typer
from rich.text import Text
from typer.core import TyperGroup

from lifelong import __version__
from lifelong._terminal import console, printable
from lifelong.cli.data import app as data_app
from lifelong.cli.demo import demo
from lifelong.cli.health import EXAMPLES as HEALTH_EXAMPLES
from lifelong.cli.health import health
from lifelong.cli.inspect import inspect
from lifelong.cli.learn import EXAMPLES as LEARN_EXAMPLES
from lifelong.cli.learn import learn
from lifelong.cli.list import list_names
from lifelong.cli.predict import EXAMPLES as PREDICT_EXAMPLES
from lifelong.cli.predict import predict
from lifelong.cli.report import EXAMPLES as REPORT_EXAMPLES
from lifelong.cli.report import report
from lifelong.cli.run import EXAMPLES as RUN_EXAMPLES
from lifelong.cli.run import run
from lifelong.cli.serve import EXAMPLES as SERVE_EXAMPLES
from lifelong.cli.serve import serve
from lifelong.cli.verify import verify
from lifelong.exceptions import LifelongError


class OneLineErrors(TyperGroup):
    """A known error is one line on the terminal and exit code 1, never a traceback."""

    def invoke(self, ctx: Any) -> Any:
        """Run the command."""
        try:
            return super().invoke(ctx)
        except LifelongError as error:
            _say(str(error))
            raise typer.Exit(1) from None
        except OSError as error:
            if error.errno == errno.EPIPE:  # nobody reads any more: `lifelong … | head`
                raise
            where = "" if error.filename is None else f"{error.filename}: "
            _say(f"{where}{error.strerror or error}.")
            raise typer.Exit(1) from None


def _say(message: str) -> None:
    console(stderr=True).print(Text.assemble(("error:", "red"), " ", printable(message)))


app = typer.Typer(
    name="lifelong",
    cls=OneLineErrors,
    no_args_is_help=True,
    help=(
        "Lifelong learning by representation ensembling: every task, old and new, gets better as"
        " tasks arrive."
    ),
)
app.command("demo")(demo)
app.command("list")(list_names)
app.command("run", epilog=RUN_EXAMPLES)(run)
app.command("report", epilog=REPORT_EXAMPLES)(report)
app.command("inspect")(inspect)
app.command("verify")(verify)
app.command("learn", epilog=LEARN_EXAMPLES)(learn)
app.command("predict", epilog=PREDICT_EXAMPLES)(predict)
app.command("health", epilog=HEALTH_EXAMPLES)(health)
app.command("serve", epilog=SERVE_EXAMPLES)(serve)
app.add_typer(data_app, name="data")


def _show_version(wanted: bool) -> None:
    if wanted:
        console().print(f"lifelong {__version__}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show it and exit."),
    ] = False,
) -> None:
    """Lifelong learning: every task, old and new, gets better as tasks arrive."""
    del version


__all__ = ["app"]
