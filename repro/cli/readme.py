"""``repro readme``: what the README shows of the stored results, written into it."""

from repro.cli.common import Results, require_stored, say


def readme(results: Results = None) -> None:
    """Write verdicts, figures and kernels of the stored results into README.md, and all of them into docs/."""
    from repro import environment
    from repro.site.showcase.page import write

    require_stored(results)
    changed = write(environment.root(), results or environment.results_folder())
    say(f"{', '.join(changed)} written" if changed else "README.md and docs/ are up to date")
