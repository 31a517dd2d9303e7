"""Seconds that cells took on machines whose results are stored, for plans where this machine has not measured."""

from collections.abc import Mapping
from typing import Any

from repro import discovery, environment
from repro.cache.glance import once
from repro.cache.plan import Task, machine_facts
from repro.cache.store import read_json
from repro.discovery import Artefact
from repro.model import DONE, ReproError
from repro.settings import Settings

Place = tuple[str, str, str]  # case, method and back end


def seconds(task: Task, settings: Settings) -> float | None:
    """Return how long a cell took when it was last measured, here or on another machine; None where nothing tells."""
    if task.seconds is not None:
        return task.seconds
    cell = task.cell
    return elsewhere(task.artefact, settings).get((cell.case, cell.method, cell.backend))


def elsewhere(artefact: Artefact, settings: Settings) -> Mapping[Place, float]:
    """Return how long an artefact's cells took elsewhere: on a machine with the same GPU, where there is one."""
    return once(("elsewhere", artefact.id, settings.results, settings.scale), lambda: _read(artefact, settings))


def _read(artefact: Artefact, settings: Settings) -> dict[Place, float]:
    alike = [
        each for each in discovery.find()
        if each.id == artefact.id or (each.measure and each.measure == artefact.module)
    ]  # fmt: skip
    found: list[tuple[bool, dict[str, Any]]] = []
    for each in alike:
        folders = {environment.results_folder().resolve(), settings.results.resolve()}
        for path in (path for folder in folders for path in folder.glob(f"*/{each.paper}/{each.stem}*.json")):
            if path.name.removesuffix(".json") in (each.stem, f"{each.stem}.{settings.scale}"):
                try:
                    manifest = read_json(path)
                except (OSError, ReproError):
                    continue
                if manifest.get("scale") == settings.scale:
                    gpu = manifest.get("machine", {}).get("gpu") or ""
                    found.append((str(gpu) == machine_facts().get("gpu", ""), manifest))
    return {
        (str(cell["case"]), cell["method"], cell["backend"]): cell["seconds"]
        for _, manifest in sorted(found, key=lambda each: each[0])
        for cell in manifest.get("cells", ())
        if cell["status"] == DONE and isinstance(cell["seconds"], int | float)
    }
