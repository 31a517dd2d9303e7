"""``repro bench``: asv's benchmarks of this commit, and two commits against each other."""

import time
from collections import Counter
from typing import Annotated

import typer

from repro.cli.common import Json, answer, console, plural, say, table

app = typer.Typer(no_args_is_help=True, help="Follow the kernels over commits, with asv.")
Benchmarks = Annotated[
    list[str] | None,
    typer.Option("--bench", metavar="REGEX", help="These only; by default a quick set. '.' for all; repeatable."),
]
Machine = Annotated[
    str | None,
    typer.Option("--machine", metavar="NAME", envvar="REPRO_MACHINE", help="This machine's name in asv's results."),
]
Seconds = Annotated[float, typer.Option("--seconds", min=0.01, help="Of sampling each benchmark.")]


@app.command("run")
def run(bench: Benchmarks = None, machine: Machine = None, seconds: Seconds = 0.5) -> None:
    """Measure this commit; asv shows the results and keeps them in .asv/results."""
    from repro.bench import commands, measured
    from repro.machine import default_name
    from repro.model import ReproError
    from repro.settings import make_settings

    commands.say_what_is_left_out(say, "HEAD")
    name, benchmarks = make_settings(None, None, machine or default_name()).machine, bench or commands.quick_set()
    words = ("run", "--machine", name, "--show-stderr", *commands.selection(benchmarks), "HEAD^!")
    commands.name_machine(name)
    head, begun = measured.commit_hash("HEAD"), time.time()
    measured.discover(head, name, benchmarks)  # asv would only say that it selects none
    status = commands.asv(*words, seconds=seconds)
    if status not in (0, 2):  # 2: some benchmarks failed, others may have a value
        raise ReproError(f"asv ended with {status}")
    if not measured.read(head, name, benchmarks, begun):
        raise ReproError(
            "nothing was measured: all that matches failed or is n/a here; `repro doctor` says which back ends work"
        )
    raise typer.Exit(int(bool(status)))  # a 2 is a wrong command's here


@app.command("compare")
def compare(
    base: Annotated[str, typer.Argument(help="The older commit.")],
    new: Annotated[str, typer.Argument(help="The newer one.")] = "HEAD",
    bench: Benchmarks = None, machine: Machine = None, seconds: Seconds = 0.5,
    rounds: Annotated[int, typer.Option("--rounds", help="Of both commits, at most.")] = 20,
    minutes: Annotated[float, typer.Option("--minutes", min=0, help="After which no round begins.")] = 60,
    fail_on_undecided: Annotated[
        bool, typer.Option("--fail-on-undecided", help="Exit with 3, not 0, if any is undecided.")
    ] = False,
    as_json: Json = False,
) -> None:  # fmt: skip
    """Measure two commits in rounds, until each benchmark is slower, faster or the same, or the rounds are over.

    Exits with 1 if anything is slower, worse or lost, or nothing is measured, with 2 for a wrong command. Ctrl-C judges
    the rounds that are complete, if they are enough, and exits with 130.
    """
    from repro.bench import commands
    from repro.bench import compare as comparing
    from repro.machine import default_name
    from repro.settings import make_settings

    commands.checkout()
    name = make_settings(None, None, machine or default_name()).machine
    verdicts, is_stopped = comparing.compare(
        base, new, name, bench or commands.quick_set(), rounds=rounds, minutes=minutes, seconds=seconds,
        say=say,
    )  # fmt: skip
    counts = Counter(found.verdict for found in verdicts)
    if as_json:
        answer([vars(found) for found in verdicts])
    else:
        columns = ("benchmark", "unit", base, new, "ratio", "interval", "rounds", "verdict")
        shown = table("", *columns, right=(base, new, "ratio", "interval", "rounds"))
        for found in verdicts:
            values = [f"{value:.4g}" if value is not None else "" for value in (found.base, found.new)]
            ratio = ("", "") if found.ratio is None else (f"{found.ratio:.3f}", f"{found.low:.3f} to {found.high:.3f}")
            shown.add_row(found.benchmark, found.unit, *values, *ratio, str(found.rounds), found.verdict)
        console().print(shown)
        for found in verdicts:
            if found.reason:
                say(f"{found.benchmark}: {found.verdict}, {found.reason}")
    told = ", ".join(f"{count} {verdict}" for verdict, count in sorted(counts.items()))
    say(f"{plural(len(verdicts), 'benchmark')}: {told}")
    if undecided := counts[comparing.UNDECIDED]:
        say(comparing.ruled_out(verdicts))
    regressed = any(counts[verdict] for verdict in comparing.REGRESSIONS)
    raise typer.Exit(130 if is_stopped else 1 if regressed else 3 if undecided and fail_on_undecided else 0)
