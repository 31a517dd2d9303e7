"""``repro believe``: say that a change of code, kernels or libraries does not matter, and show it on a sample."""

from typing import Annotated

import typer

from repro.cli.common import Machine, Names, Papers, Results, Scale, command_line, jobs, plural, say


def believe(
    reason: Annotated[str, typer.Argument(help="Why the change does not matter, as in 'a helper was renamed'.")],
    names: Names = None, paper: Papers = None, scale: Scale = None, results: Results = None, machine: Machine = None,
    sample: Annotated[int, typer.Option("--sample", min=5, help="Void cells to measure again, at least 2 %.")] = 5,
) -> None:  # fmt: skip
    """Keep void cells of which only code, kernels or libraries changed.

    A random sample of them is measured again. If every number of the sample agrees with the stored one, the belief is
    written, with what changed, the reason and the sample. Nothing that is stored is changed.
    """
    from repro.judge import believing
    from repro.settings import make_settings

    settings = make_settings(scale, results, machine, command=command_line())
    found = jobs(names, paper, None, not names and not paper, None, None, settings)
    tasks = list({task.path: task for job in found for task in job.tasks}.values())
    path, compared = believing.believe(reason, tasks, settings, sample, tell=say)
    for each in compared:
        say(f"{each['cell']}: {each['metric']} {each['stored']:.6g} -> {each['again']:.6g}")
    say(f"{path}: {plural(len(compared), 'number')} measured again and alike")
