"""The pages of kernels, one a family of modules: what each kernel is, its times beside bound and rivals, what binds."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

from repro import environment
from repro.judge.claims.stored import Stored
from repro.judge.claims.table import Link
from repro.site.showcase import losses, tables
from repro.site.showcase.kernels import docstring
from repro.site.showcase.ledger import Ledger

FOLDER = "kernels"  # of the sources below the root, and of the pages in docs/


def pages(
    ledgers: Sequence[Ledger], machines: Mapping[str, Stored], opening: Sequence[str], link: Link
) -> dict[str, str]:
    """Return the pages by their names in ``docs/``, the index among them.

    `opening`: paragraphs below the heading of each page.
    """
    folders = sorted({_folder(module) for module in _modules(ledgers)})
    root = environment.root() / FOLDER
    heads = {folder: docstring(root / folder / "__init__.py").partition("\n")[0] for folder in folders}
    index = ["# Kernels", *opening, "\n".join(f"- [{folder}]({folder}.md): {heads[folder]}" for folder in folders),
             "## Where a rival is faster", losses.table(ledgers, machines, link),
             "## How to read the tables", tables.caption(),
             "\n".join(["```{toctree}", ":hidden:", "", *folders, "```"])]  # fmt: skip
    found = {f"{FOLDER}/index.md": index}
    for folder in folders:
        own = [
            replace(each, families=tuple(family for family in each.families
                                         if _folder(next(iter(family.kernels.values()))[0]) == folder))
            for each in ledgers
        ]  # fmt: skip
        page = [f"# Kernels: {folder}", heads[folder], *opening, "The [index](index.md) says how the tables are read."]
        if (root.parent / "docs" / "notes" / f"{folder}.md").is_file():
            page.append(f"The [notes](../notes/{folder}.md) tell which trials were made, with their measurements.")
        for name, stored in machines.items():
            page += [f"## On {name}", tables.kernels(own, stored, link).strip()]
        page += ["## What they are, and what binds them"]
        for module in dict.fromkeys(each for each in _modules(own) if _folder(each) == folder):
            page += [f"### `{module}`", docstring(root / module), link("Source", f"{FOLDER}/{module}")]
        found[f"{FOLDER}/{folder}.md"] = page
    return {name: "\n\n".join(part for part in page if part) + "\n" for name, page in found.items()}


def _modules(ledgers: Sequence[Ledger]) -> list[str]:
    return [module for ledger in ledgers for family in ledger.families
            for modules in family.kernels.values() for module in modules]  # fmt: skip


def _folder(module: str) -> str:
    return module.partition("/")[0]
