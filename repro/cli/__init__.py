"""The command line of repro.

    repro list | run | status | believe | repeat | compare | claims | figures | readme
    repro | report | verify | data | bench | doctor

Each command imports what it needs when it is called, so that ``repro list`` and ``repro --help`` answer at once.
"""

import errno
import functools
import os
import re
import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer

import repro
from repro.cli import (
    believe,
    bench,
    claims,
    compare,
    data,
    doctor,
    figures,
    listing,
    readme,
    repeat,
    report,
    run,
    status,
    verify,
)
from repro.cli.common import say
from repro.model import ReproError

app = typer.Typer(
    name="repro", no_args_is_help=True, pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Measure again what five papers on finite elements on GPUs report, and compare.",
)  # fmt: skip
app.command("list")(listing.list_artefacts)
for command in (
    run.run, status.status, believe.believe, repeat.repeat, compare.compare, claims.claims, figures.figures,
    readme.readme, report.report, verify.verify, doctor.doctor,
):  # fmt: skip
    app.command(command.__name__)(command)
app.add_typer(data.app, name="data")
app.add_typer(bench.app, name="bench")


def _version(wanted: bool) -> None:
    if wanted:
        print(f"repro {repro.__version__}")
        raise typer.Exit()


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    pass


@functools.cache
def _command() -> Any:
    """Return what Typer makes of all commands: once, since that takes most of the time of a wrong one."""
    return _flowing(typer.main.get_command(app))


def _flowing(command: Any) -> Any:
    """Join the lines of the help's paragraphs: a docstring's lines are longer than many a terminal's."""
    command.help = re.sub(r"(?<!\n)\n(?!\n)", " ", command.help or "")
    for each in getattr(command, "commands", {}).values():
        _flowing(each)
    return command


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command; an error for the user is one line on standard error.

    Returns
    -------
    int
        0 when all is well, 1 when something failed, 2 for a wrong command, 130 when interrupted.
    """
    from repro import encoding
    from repro.discovery import UnknownName

    if arguments is None:
        encoding.require_utf8()
    encoding.replace_what_streams_lack()
    try:
        _command()(args=list(arguments) if arguments is not None else None, prog_name="repro")
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except ReproError as error:
        say(f"repro: {error}")
        return 2 if isinstance(error, UnknownName) else 1
    except KeyboardInterrupt:
        say("repro: interrupted")
        return 130
    except BrokenPipeError:  # as in `repro list | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:  # of the user's files and folders; of anything else its traceback is wanted
        if error.filename is None and error.errno == errno.ENOSPC:  # of standard output
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            say(f"repro: {error.strerror}")
            return 1
        if error.filename is None:
            raise
        say(f"repro: {str(error.filename)[:200]!r}: {error.strerror}")
        return 1
    return 0
