"""Tables over numberings and levels, a column a hardware, in the layout of the paper's Tables 2 and 3."""

from __future__ import annotations

import pandas

from experiments.geveler2011 import BEST, DEVICES, HARDWARE, NUMBERINGS, PLACES, TITLES, level_of, method_of
from experiments.geveler2011.convergence import VARIANTS as RATES
from experiments.geveler2011.problems import SMOOTHING
from experiments.geveler2011.solves import CACHED, LEVELLED, MEANING, VARIANTS
from experiments.partly import WHOLE
from repro.judge.difference import SLOWER, THRESHOLD, of_intervals
from repro.show.panels import legend_columns
from repro.show.plots import style
from repro.show.quotients import quotient, quotient_text
from repro.show.results import point
from repro.show.tables import INTERVALS, Table, as_printed, number_text, trimmed

SMOOTHERS = {"jacobi": "Jacobi's", "chebyshev": "Chebyshev's", "spai": "SPAI's", "strong": "`strong`'s"}
GAINS = {"cpu-all": "speedup_over_cpu_1", "ellpack_r": "speedup_over_cpu_4"}  # as the paper prints them
HEADINGS = {"cpu-1": "1 thread", "cpu-all": "all threads", "ellpack_r": "device"}
OVER = {f"{HEADINGS[below]}, times as fast as {HEADINGS[above]}": (above, below)
        for above, below in (("cpu-1", "cpu-all"), ("cpu-all", "ellpack_r"))}  # fmt: skip
NAMED = (
    "Numberings: 2LV has the coarser level's unknowns first, CM is Cuthill and McKee's, XYZ by coordinates, STO "
    "random, and HIE as one meets them on a walk over the refined elements. L: the level."
)
PRINTED = {f"{name}, paper" for name in (*HEADINGS.values(), *OVER)}


def by_numbering(results, title: str, element: str, metric: str, unit: str, notes=()) -> Table:
    """Return one element's half of the paper's table: ours, the paper's, and the speed-ups of either.

    Parameters
    ----------
    results : repro.show.results.Results
    title : str
    element : {'q1', 'q2'}
    metric : str
        A time, or a rate.
    unit : str
        That columns are in.
    notes : sequence of str
    """
    backend = _backend(results, metric)
    rows = []
    for numbering in NUMBERINGS:
        for case in cases_of(results, element):
            row = {"Numbering": TITLES[numbering], "L": level_of(case)}
            ours, theirs, gains = {}, {}, {}
            for ours_name, paper_name in HARDWARE.items():
                method = method_of(element, numbering, ours_name)
                where = backend if ours_name == "ellpack_r" else "host"
                ours[ours_name] = point(results, case, method, metric, unit, where)
                paper = method_of(element, numbering, paper_name)
                number = results.published.get(case, paper, metric)
                theirs[ours_name] = None if number is None else as_printed(number, unit)
                if ours_name in GAINS:
                    number = results.published.get(case, paper, GAINS[ours_name])
                    gains[ours_name] = None if number is None else as_printed(number, "x")
            for name, heading in HEADINGS.items():
                row[f"{heading} [{unit}]"], row[f"{heading}, paper"] = number_text(ours[name], unit), theirs[name]
            for name, (above, below) in OVER.items():
                pair = (above, below) if unit in ("s", "ms") else (below, above)
                row[name] = quotient_text(quotient(*(ours[each] for each in pair)))
                row[f"{name}, paper"] = gains[below]
            sliced = point(results, case, method_of(element, numbering, "sell"), metric, unit, backend)
            row[f"device, SELL [{unit}]"] = number_text(sliced, unit)
            kernels = point(results, case, method_of(element, numbering, "ellpack_r"), metric, unit, "openmp")
            if backend != "openmp":  # else they are the device's
                row[f"all threads, ELLPACK-R [{unit}]"] = number_text(kernels, unit)
            if any(value is not None for value in (*ours.values(), *theirs.values(), sliced, kernels)):
                rows.append(row)
    frame = pandas.DataFrame(rows, dtype=object)
    made = trimmed(Table(f"{title}, {element.upper()}", frame, [*notes, *_notes(results, backend, element)]), 2)
    if results.scale != "paper" and not PRINTED.isdisjoint(made.frame.columns):
        made.notes.append("The paper's columns hold for the levels that both have.")
    return made


def variants(results, element: str, names, metric: str = "solve", numbering: str = BEST) -> list[dict]:
    """Return a row for each variant on each back end: its time, cycles and rate of convergence."""
    rows = []
    for case in cases_of(results, element):
        for name in names:
            method = method_of(element, numbering, name)
            for backend in (*DEVICES, "host"):
                found = results.row(case, method, metric, backend)
                if found is None:
                    continue
                cycles, rate = (results.value(case, method, fact, backend) for fact in ("cycles", "convergence"))
                rows.append({
                    "L": level_of(case), "Variant": name, "Back end": backend,
                    "Time [ms]": 1e3 * found["value"], "Cycles": None if cycles is None else int(cycles),
                    "Defect a cycle": rate, "Of bound [%]": results.of_bound(found),
                })  # fmt: skip
    return rows


def beside_best(results, element: str, title: str) -> list[Table]:
    """Return a table of the variants in each other numbering that has some, where there are any but `sell`."""
    made = []
    for numbering in (CACHED, LEVELLED):
        rows = variants(results, element, VARIANTS, numbering=numbering)
        if not {row["Variant"] for row in rows} <= {"sell"}:
            heading = f"{title} in numbering {TITLES[numbering]}, {element.upper()}"
            made.append(trimmed(Table(heading, pandas.DataFrame(rows)), 3))
    return made


def meanings(mesh: str, rows: list[dict]) -> list[str]:
    """Return notes on the variants of some rows, and on how much their smoothers do in a cycle."""
    shown = {row["Variant"] for row in rows}
    steps = [f"{how['steps']} of {SMOOTHERS[name]}" for name, how in SMOOTHING[mesh].items()
             if name == "jacobi" or name in shown]  # fmt: skip
    notes = [f"`{name}`: {text}." for name, text in MEANING.items() if name in shown]
    if by_tiles := [f"`{name}`" for name in MEANING if name in shown and "tiled" in VARIANTS.get(name, ())]:
        notes.append(f"The bound counts each step of a cycle by itself. {', '.join(by_tiles)} do several at once on "
                     "small levels, so that their share of it is too high on small meshes.")  # fmt: skip
    return [*notes, f"On each level a cycle takes, before and after the next coarser one, {' or '.join(steps)} steps."]


def factors(results, element: str, metric: str = "solve") -> list[dict]:
    """Return for each level by how much STO takes longer than the best numbering, on each hardware."""
    backend = _backend(results, metric)
    rows = []
    for case in cases_of(results, element):
        row = {"Element": element.upper(), "L": level_of(case)}
        for name, heading in HEADINGS.items():
            where = backend if name == "ellpack_r" else "host"
            times = {n: point(results, case, method_of(element, n, name), metric, "s", where) for n in NUMBERINGS}
            worst, others = times.pop("sto"), {n: time for n, time in times.items() if time is not None}
            best = min(others, key=lambda n: others[n][0], default=None)
            row[heading] = None if worst is None or best is None else quotient_text(quotient(worst, others[best]))
            is_told = worst is not None or len(others) > 1  # one alone, beside which nothing is, is no best
            row[f"best, {heading}"] = ", ".join(_as_good(others, best)) if best and is_told else None
        rows.append(row)
    return rows


def _as_good(times, best: str) -> list[str]:
    """Return the best numbering, and those whose intervals do not show them to be slower."""
    others = [n for n in times if n != best and of_intervals(times[best], times[n], THRESHOLD).verdict != SLOWER]
    return [TITLES[n] for n in (best, *others)]


def one_legend(made, axes) -> None:
    """Put the legend that all panels share above them, once: a numbering that a panel lacks is named by another's."""
    entries = {}
    for axis in axes:
        entries |= dict(zip(*reversed(axis.get_legend_handles_labels()), strict=True))
        if axis.get_legend() is not None:
            axis.get_legend().remove()
    names = [name for name in entries if name.removesuffix(" (paper)") not in {*entries} - {name}]
    names.sort(key=lambda name: name.startswith("paper"))
    with style():
        made.legend([entries[name] for name in names], names, loc="outside upper left",
                    ncols=legend_columns(names, made.get_figwidth()) if names else 1)  # fmt: skip


def cases_of(results, element):
    """Return the cases that the element was measured in, by level."""
    frame = results.frame
    found = frame[(frame["p_element"] == element) & ~frame["p_variant"].isin(RATES)]
    return sorted((case for case in set(found["case"]) if PLACES[case].mesh != "cube"), key=level_of)


def _backend(results, metric):
    """Return the best back end of ELLPACK-R's rows."""
    rows = results.done[(results.done["metric"] == metric) & (results.done["p_variant"] == "ellpack_r")]
    present = set(rows["backend"])
    return next((backend for backend in DEVICES if backend in present), "cuda")


def by_some_cycles(results, element: str = "") -> list[str]:
    """Return a note on the solves that are told by some of their cycles, see `experiments.partly`.

    `element`: of the columns of its table alone; by default all.
    """
    some = results.done[results.done["metric"] == "some_cycles"]
    if element:
        some = some[(some["p_element"] == element) & some["p_variant"].isin([*HARDWARE, "sell"])]
    cases = [(case, sorted(set(some[some["case"] == case]["p_variant"])))
             for case in sorted(set(some["case"]), key=level_of)]  # fmt: skip
    if not cases:
        return []
    shown = "; ".join(f"{case}, {', '.join(f'`{name}`' for name in names)}" for case, names in cases)
    return [f"Where a solve on a processor would take more than {WHOLE} s, some of its cycles are timed, and the time "
            f"is scaled to all of them. In one numbering at least this holds for {shown}."]  # fmt: skip


def _notes(results, backend, element):
    done = results.done
    devices = {d for d in done[done["backend"] == backend]["device"] if isinstance(d, str) and d}
    hosts = {d for d in done[done["backend"] == "host"]["device"] if isinstance(d, str) and d}
    notes = [NAMED, f"Device: ELLPACK-R on {backend}, {', '.join(sorted(devices)) or 'not measured'}."]
    if hosts:
        notes.append(f"Threads: loops compiled by Numba over CSR on {', '.join(sorted(hosts))}; the paper had 4.")
    notes += by_some_cycles(results, element)
    notes.append(INTERVALS + " In parentheses: the interval of a quotient." * bool(hosts))
    notes.append(f"Machine {results.place}, scale {results.scale}.")
    return notes
