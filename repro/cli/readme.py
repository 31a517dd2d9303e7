"""``repro readme``: what the README shows of the stored results, written into it."""

from repro.cli.common import Results, require_some, require_stored, say


def readme(results: Results = None) -> None:
    """Write verdicts and the main claims into README.md; every claim, the kernels and some figures into docs/."""
    from repro import environment
    from repro.site.showcase.page import write

    require_stored(results)
    folder = results or environment.results_folder()
    require_some(folder)
    changed = write(environment.root(), folder)
    say(f"{', '.join(changed)} written" if changed else "README.md and docs/ are up to date")
