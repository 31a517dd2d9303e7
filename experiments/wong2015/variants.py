"""Variants of K1 and K2 on the matrices of section 7: reordered unknowns, rows in order, rows that are not coalesced.

Each is timed at 50 repeats with the parameters found for K1 or K2, and with x read through the first-level cache, in
the place of the paper's texture cache, and past it.
"""

from __future__ import annotations

import pandas

from experiments.processors import with_c
from experiments.wong2015 import stated
from experiments.wong2015.matrices import NOTE, SUBSET, cases, data, marks, named
from experiments.wong2015.products import BACKENDS, product_cell, variant_count
from repro import Cell
from repro.show.panels import slanted
from repro.show.plots import PAGE, bars, caption, figure, point
from repro.show.quotients import quotient
from repro.show.tables import Table
from repro.units import significant

PLAIN = {
    "k1": {"form": "ellwarp"}, "k1r": {"form": "ellwarp", "reorder": True},
    "k1rs": {"form": "ellwarp", "reorder": True, "sort_columns": True},
    "k1r-remapped": {"form": "ellwarp", "reorder": True, "remap": True},
    "k1-by-rows": {"form": "ellwarp", "coalesced": False}, "k1-unsorted": {"form": "ellwarp", "window": 1},
    "k2": {"form": "ellwarp2"}, "k2r": {"form": "ellwarp2", "reorder": True},
    "k2rs": {"form": "ellwarp2", "reorder": True, "sort_columns": True},
    "k2r-remapped": {"form": "ellwarp2", "reorder": True, "remap": True},
}  # fmt: skip
NAMES = {
    "k1": "K1", "k1r": "K1r", "k1rs": "K1rs", "k1r-remapped": "K1r, remapped", "k1-by-rows": "K1, row-major",
    "k1-unsorted": "K1, unsorted", "k2": "K2", "k2r": "K2r", "k2rs": "K2rs", "k2r-remapped": "K2r, remapped",
}  # fmt: skip
CACHES = {"": "x through the cache", "-uncached": "x past the first-level cache"}
REGULAR = ("qcd", "epidemiology")  # which the text leaves out of what sorting gains
GAINS = "In parentheses: the interval of a difference."
UNCACHED = (
    "x past the first-level cache is read by CUDA's kernels alone; the paper's texture cache is part of that cache now."
)


def variant_cells(scale, methods, anatomy=False):
    """Return the cells of variants, with the plain kernel's own where it is one of them."""
    found = []
    for case in cases(scale, SUBSET, anatomy):
        for method in methods:
            for backend in BACKENDS:
                if method in ("k1", "k2"):
                    found.append(product_cell(case, method, backend))
                else:
                    found.append(_cell(case, method, method, backend))
            found.append(_cell(case, method, f"{method}-uncached", "cuda", cached=False))
    return with_c(found)


def _cell(case, method, name, backend, **more):
    layout = PLAIN[method]
    return Cell(case, name, backend, {**layout, "search": layout["form"], "variant": True, **more}, data(case))


def seconds(results, case, method, uncached=""):
    """Return the time of a product at the variants' number of repeats."""
    return results.value(case, method + uncached, "spmv", repeats=variant_count(results.scale))


def _beside(results, case, method, base, uncached):
    """Return the time of a variant over another's, with the ends of the interval; None without both."""
    return quotient(*(point(results, case, each + uncached, "spmv", "s", repeats=variant_count(results.scale))
                      for each in (method, base)))  # fmt: skip


def gain(results, case, method, base, uncached=""):
    """Return how much less time a variant takes than another, percent, with its interval; None without both."""
    found = _beside(results, case, method, base, uncached)
    if found is None:
        return None
    value, high, low = (each if each is None else 100 * (1 - each) for each in found)
    return value, low, high


def gain_text(results, case, method, base, uncached=""):
    """Return how much less time a variant takes than another, percent, and in parentheses the interval of that."""
    found = gain(results, case, method, base, uncached)
    if found is None:
        return None
    value, low, high = (each if each is None else significant(each, 2) for each in found)
    return value if low is None else f"{value} ({low} to {high})"


def times(results, title, methods, notes=()):
    """Return times of the variants with and without cache, and each one's gain over the first.

    Returns
    -------
    repro.show.tables.Table
        The gain is the difference of the times over the first's, percent.
    """
    rows, base = [], methods[0]
    for case, name in named(results).items():
        for uncached, text in CACHES.items():
            found = {method: seconds(results, case, method, uncached) for method in methods}
            if found[base] is None or not any(found[method] for method in methods[1:]):
                continue  # nothing to compare
            rows.append({"Matrix": name, "Cache": text}
                        | {f"{NAMES[method]} [µs]": value and 1e6 * value for method, value in found.items()}
                        | {f"{NAMES[method]} faster [%]": gain_text(results, case, method, base, uncached)
                           for method in methods if method != base})  # fmt: skip
    return Table(title, pandas.DataFrame(rows), [*notes, GAINS, UNCACHED, *marks(results), NOTE])


def spread(results, method, base, uncached="", without=(), sign=1):
    """Return the least and the largest gain of a variant over another, percent, and how many are decided, in words."""
    found = [_beside(results, case, method, base, uncached) for case in named(results) if case not in without]
    found = [each for each in found if each]
    gains = [sign * 100 * (1 - ratio) for ratio, *_ in found]
    if not gains:
        return "–"
    decided = sum(low is not None and not low <= 1 <= high for _, low, high in found)
    return f"{min(gains):.3g} to {max(gains):.3g} %, decided by the intervals on {decided} of {len(gains)}"


def drawn(results, methods):
    """Draw times of the variants, with and, where they were measured, without cache; None with none to compare."""
    kinds = [each for each in CACHES
             if any(sum(bool(seconds(results, case, method, each)) for method in methods) > 1
                    for case in named(results))]  # fmt: skip
    if not kinds:
        return None
    made, panels = figure(PAGE, 3.0, panels=len(kinds))
    for axes, uncached in zip(panels, kinds, strict=True):
        bars(axes, results, "spmv", {method + uncached: NAMES[method] for method in methods}, unit="µs",
             parameters={"repeats": variant_count(results.scale)},
             quantity=f"Product, {CACHES[uncached]}", cases=named(results))  # fmt: skip
        slanted(axes)
    if len({axes.get_yscale() for axes in panels}) == 1:  # the same times are as high in both
        limits = [axes.get_ylim() for axes in panels]
        for axes in panels:
            axes.set_ylim(min(low for low, _ in limits), max(high for _, high in limits))
    caption(made, results, "; ".join(marks(results)))
    return made


def sorting(results, title, methods):
    """Return times of the second of two methods, whose columns are sorted, against the first, and notes."""
    notes, sorted_one = [], methods[1]
    for uncached, text, mark in (("", "through the cache", "-textured"), ("-uncached", "past it", "")):
        printed = " to ".join(stated(f"{sorted_one}{mark}-{end}") for end in ("low", "high"))
        gain = spread(results, *reversed(methods), uncached, REGULAR)
        notes.append(f"Gain without QCD and Epidemiology, x {text}: {gain}; published {printed} %.")
    return times(results, title, methods, notes)
