"""pip, which says before it downloads how much that will be; for the environment's own Python, by this file's path.

All else is pip's: its configuration, index, mirror, certificates and cache. It has no option for this, so that a
function of its inside is wrapped, between the choice of the files and their download. A pip that has it no longer says
so, and installs all the same.
"""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor

UNKNOWN = "unknown size: "


def bytes_to_load(session, link) -> int:
    """Return the size of a file, and 0 for one of this machine's or of pip's cache."""
    address = link.url_without_fragment
    cache = getattr(session.get_adapter(address), "cache", None)
    if link.is_file or (cache is not None and cache.get(address)):
        return 0
    # Not compressed on its way, which would leave its length out.
    answer = session.head(address, headers={"Accept-Encoding": "identity"}, allow_redirects=True)
    answer.raise_for_status()
    return int(answer.headers["Content-Length"])


def announcement(session, requirements) -> str:
    """Return how much pip has to download for these; an empty string where that is nothing."""
    links = [each.link for each in requirements if each.link is not None and each.needs_more_preparation]
    if not links:
        early = any(each.link is not None and not each.link.is_file for each in requirements)
        return UNKNOWN + "this index does not tell before it sends a file" if early else ""
    try:
        with ThreadPoolExecutor(8) as pool:
            sizes = [size for size in pool.map(lambda link: bytes_to_load(session, link), links) if size]
    except Exception as error:  # of pip's inside, or of an index that does not tell
        return f"{UNKNOWN}{type(error).__name__}: {error}"
    return f"to download: {len(sizes)} files, {sum(sizes)} bytes" if sizes else ""


def announce() -> None:
    """Make pip say it."""
    from pip._internal.operations.prepare import RequirementPreparer

    prepare = RequirementPreparer.prepare_linked_requirements_more

    def announced(self, requirements, *more, **options):
        requirements = list(requirements)
        if said := announcement(self._session, requirements):
            print(said, flush=True)
        return prepare(self, requirements, *more, **options)

    RequirementPreparer.prepare_linked_requirements_more = announced


def main() -> int:
    """Run pip with this process's arguments."""
    from pip._internal.cli.main import main

    try:
        announce()
    except (ImportError, AttributeError) as error:
        print(f"{UNKNOWN}{error}", flush=True)
    return main()


if __name__ == "__main__":
    sys.exit(main())
