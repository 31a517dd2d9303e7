"""``repro repeat``: measure a random sample of what is stored again, and count how many medians hold."""

import time
from dataclasses import asdict
from typing import Annotated

import typer

from repro.cli.common import Json, Machine, Names, Only, Papers, Results, Scale, answer, command_line, jobs, say

WANTED = 0.9  # of the medians, which is what the intervals promise


def repeat(
    names: Names = None, paper: Papers = None, scale: Scale = None, only: Only = None, results: Results = None,
    machine: Machine = None,
    sample: Annotated[int, typer.Option("--sample", min=1, help="Medians to measure again.")] = 200,
    minutes: Annotated[
        float | None, typer.Option("--minutes", min=0.1, help="Stop before so many are over, with fewer medians.")
    ] = None,
    as_json: Json = False,
) -> None:  # fmt: skip
    """Measure medians of this machine again, drawn by lot, and say how many lie in their stored intervals.

    Nothing that is stored is changed. Exit status: 0 if nine of ten hold, else 1.
    """
    began = time.monotonic()
    from repro.judge import repeating
    from repro.run.worker import NEVER
    from repro.settings import make_settings

    settings = make_settings(scale, results, machine, command=command_line(), continuing=True)
    found = jobs(names, paper, None, not names and not paper, only, None, settings, every=True)
    tasks = list({task.path: task for job in found for task in job.wanted}.values())
    repeated = []
    until = NEVER if minutes is None else began + 60 * minutes
    for each in repeating.repeat(tasks, settings, sample, until, tell=say):
        repeated.append(each)
        if not each.holds:
            now = "nothing" if each.again is None else f"{each.again:.4g}"
            was = f"{each.value:.4g} ({each.low:.4g} to {each.high:.4g}) {each.unit}"
            say(f"{each.cell}, {each.metric}: {was}, now {now}")
    held = sum(each.holds for each in repeated)
    share = held / max(1, len(repeated))
    wanted = f"wanted: {100 * WANTED:.0f} %"
    if as_json:
        answer({"medians": len(repeated), "held": held, "each": [asdict(each) for each in repeated]})
    say(f"{held} of {len(repeated)} medians lie in their stored intervals, {100 * share:.3g} % ({wanted})")
    raise typer.Exit(int(not repeated or share < WANTED))
