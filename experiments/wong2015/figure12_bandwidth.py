"""Effective bandwidth of products with all matrices, one repeat and a warm cache: K1, K2 and their rivals.

The product y = A x with x, y and the matrix on the device. The tables have the times with a cold cache, too.

No equation: the effective bandwidth is 20 bytes for each non-zero over the time of a product.
Timed, in `wong2015/products.py`: `run.time("spmv", product.multiply)`.
"""

from __future__ import annotations

import pandas

from experiments import disturbed
from experiments.processors import with_c
from experiments.wong2015 import stated
from experiments.wong2015.matrices import ANATOMY, MATRICES, NOTE, OWN, marks, named
from experiments.wong2015.own import FORMATS, own_cells
from experiments.wong2015.products import (
    KERNELS,
    METHODS,
    ON_CORES,
    REPEATS,
    RIVALS,
    STAND_INS,
    measure,
    parameters_of,
    product_cells,
)
from experiments.wong2015.rows import two_rows
from repro.judge.difference import FASTER, SLOWER, THRESHOLD, of_intervals
from repro.show.panels import MEMORY
from repro.show.plots import PAGE, bars, caption, figure
from repro.show.quotients import quotient, quotient_text
from repro.show.results import point
from repro.show.tables import Table

__all__ = ["cells", "measure", "plot", "tables"]
# In the table alone: eight methods can be told apart, merge-path CSR is best nowhere that all ran, and K1 in windows
# is of processors alone.
IN_TABLE = ("cusparse_csr_alg2", "cusparse_bsr", "csr_merge", "k1-window")
IN_PAPER = ("k1", "k2")
LIBRARIES = tuple(method for method in RIVALS if "rival" in parameters_of(method))
PUBLISHED = {("spmv", count): f"k-fastest-at-{count}" for count in (1, 50, 1200)}
ONE_ROW = 5  # matrices, of seven bars and more
MINUTES = {"smoke": 0.5, "small": 3, "paper": 4, "large": 10}
COUNT = 1


def cells(scale):
    """Return every matrix with every kernel and rival, an anatomy's, and the user's own in every other format."""
    return with_c([*product_cells(scale, beside=ANATOMY[:1] if scale == "paper" else ()), *own_cells()])


def tables(results):
    """Return the bandwidths of the figure, who is fastest at each number of repeats, and every time."""
    return shown(results, "Figure 12", COUNT)


def shown(results, title, count):
    """Return the tables of products at the largest number of repeats up to `count` that the scale has."""
    count = max(each for each in REPEATS[results.scale] if each <= count)
    time = f"the mean time of {count} products in a row" if count > 1 else "the time of a product"
    methods, rows = _there(results, count), []
    windows = [ON_CORES] * ("k1-window" in methods)
    notes = [f"20 bytes a non-zero, as the paper counts, over {time}.", STAND_INS, *windows, *marks(results), NOTE]
    for case, name in named(results).items():
        rows.append({"Matrix": name} | {
            label: results.value(case, method, "bandwidth", repeats=count) for method, label in methods.items()
        })  # fmt: skip
    found = [Table(f"{title}: effective bandwidth [GB/s]", pandas.DataFrame(rows), notes)]
    regimes = {("spmv", each): f"{each} repeats" for each in REPEATS[results.scale]}
    regimes |= {("spmv", 1): "one repeat, warm", ("spmv_cold", 1): "one product, the last-level cache evicted before"}
    found += [_fastest(results, methods, metric, repeats, text) for (metric, repeats), text in regimes.items()]
    found += _own(results, "spmv", count, regimes["spmv", count])
    found += _beside_stand_ins(results, methods)
    return [*found, _every(results, methods | {form: form for form in FORMATS}, count)]


def _there(results, count):
    """The methods at `count` repeats with their names; beside a GPU's times no kernel that a processor alone has."""
    on_gpu, found = "cuda" in results.backends(metric="bandwidth"), {}
    for method, name in METHODS.items():
        backends = results.backends(method, "bandwidth", repeats=count)
        if backends and not (on_gpu and backends == ["openmp"]):
            found[method] = name
    return found


def _fastest(results, methods, metric, repeats, text):
    """The best of K1 and K2 beside the best rival, and the share of the bound by least bytes."""
    lines, kernels = [], [method for method in KERNELS if method in methods]
    for case, name in named(results).items():
        ours, theirs = (_best(results, case, each, metric, repeats) for each in (kernels, RIVALS))
        if ours is not None:
            lines.append((name, METHODS[ours["method"]], ours, theirs))
    return _beside(results, f"K1 or K2 and the best rival, {text}", lines, _won(results, kernels, metric, repeats))


def _own(results, metric, repeats, text):
    """The user's own matrix in the other formats, the user's own among them, each beside the best rival."""
    theirs, name = _best(results, OWN, RIVALS, metric, repeats), named(results).get(OWN)
    found = {form: results.row(OWN, form, metric, repeats=repeats) for form in FORMATS}
    lines = [(name, form, row, theirs) for form, row in found.items() if row]
    return [_beside(results, f"Other formats and the best rival, {text}", lines)] if lines else []


def _beside(results, title, lines, notes=()):
    """The table of lines, each a matrix, the name of ours, and the rows of ours and of the best rival."""
    rows = [
        {"Matrix": name, "Ours": method, "Time [µs]": 1e6 * ours["value"], "Of the bound [%]": results.of_bound(ours),
         "Best rival": theirs and disturbed.marked(results, METHODS[theirs["method"]], theirs),
         "Its time [µs]": 1e6 * theirs["value"] if theirs else None,
         "Its time over ours": quotient_text(quotient(_ends(results, theirs), _ends(results, ours)))}
        for name, method, ours, theirs in lines
    ]  # fmt: skip
    notes = [*notes, "Bound: least bytes of the format, without padding, at the bandwidth measured at that size.",
             *disturbed.note(results, (theirs for *_, theirs in lines))]  # fmt: skip
    return Table(title, pandas.DataFrame(rows), notes)


def _ends(results, row):
    """Return the time of a row in seconds, with the ends of its interval; None of no row."""
    return row and point(results, row["case"], row["method"], row["metric"], "s", row["backend"],
                         repeats=row["p_repeats"])  # fmt: skip


def _won(results, kernels, metric, repeats):
    """Say for how many matrices ours is shown to be faster than the libraries, and what the paper prints of its own."""
    found, left, without, papers, left_of_papers = [], 0, 0, [], 0

    def verdict(*rows):
        return of_intervals(*(_ends(results, row) for row in rows), THRESHOLD).verdict

    def is_in_doubt(ours, theirs):  # a victory; a rival that was quicker even so is none
        return ours["value"] < theirs["value"] and disturbed.is_disturbed(results, theirs)

    for case in named(results):
        ours, theirs = (_best(results, case, each, metric, repeats) for each in (kernels, LIBRARIES))
        if ours and theirs and is_in_doubt(ours, theirs):
            left += 1
        elif ours and theirs:
            found.append(verdict(ours, theirs))
        without += bool(ours and not theirs)
        own, rivals = (_best(results, case, each, metric, repeats) for each in (IN_PAPER, RIVALS))
        if case in MATRICES and own and rivals and is_in_doubt(own, rivals):
            left_of_papers += 1
        elif case in MATRICES and own and rivals:
            papers.append((own["value"] < rivals["value"], verdict(own, rivals) == SLOWER))
    faster, slower = (found.count(verdict) for verdict in (SLOWER, FASTER))  # of the library
    open_ = "On the others the intervals show no difference. " * (faster + slower < len(found))
    told = [
        f"Of {len(found)} matrices that a library ran{' and that count' * bool(left)} ours is faster than the best "
        f"library on {faster}, and slower on {slower}. {open_}Rivals that are kernels of this project are no libraries."
    ] * bool(found)
    if left:
        told.append(f"Not counted, since the best library was slower but disturbed: {left}.")
    if without:
        told.append(f"No library ran {without} of them here, whose rivals are kernels of this project's; Table 4 has "
                    "cuSPARSE's CSR beside K1 and K2.")  # fmt: skip
    if (metric, repeats) in PUBLISHED:
        here = (
            " Here, without windows and beside every rival, they take the least time on {} of {} by the medians. The "
            "intervals show it of {}."
        )
        won, shown = (sum(each) for each in zip(*papers, strict=True)) if papers else (0, 0)
        here = here.format(won, len(papers), shown) * bool(papers)
        here += f" Not counted, since the best rival was slower but disturbed: {left_of_papers}." * bool(left_of_papers)
        told.append(
            f"Published: K1 or K2 is the fastest for {stated(PUBLISHED[metric, repeats])} of 15 matrices.{here}"
        )
    return told


def _beside_stand_ins(results, methods):
    """Times on public matrices that were downloaded, and on what stands in for them elsewhere."""
    rows = []
    for case, name in named(results).items():
        for method, label in methods.items():
            beside = results.row(case, method, "spmv_stand_in")
            if beside is None:
                continue
            itself = results.value(case, method, "spmv", beside["backend"], repeats=beside["p_repeats"])
            rows.append({"Matrix": name, "Method": label, "Back end": beside["backend"],
                         "The matrix itself [µs]": 1e6 * itself, "Its stand-in [µs]": 1e6 * beside["value"],
                         "The stand-in takes [%]": 100 * beside["value"] / itself})  # fmt: skip
    notes = ["Both have as many rows and non-zeros: where their times differ, those of the stand-in tell little."]
    return [Table("Public matrices and their stand-ins", pandas.DataFrame(rows), notes)] if rows else []


def _best(results, case, methods, metric, repeats):
    found = [results.row(case, method, metric, repeats=repeats) for method in methods]
    return min((row for row in found if row), key=lambda row: row["value"], default=None)


def _every(results, methods, count):
    """Times, and both ways to count bandwidth."""
    rows, last = [], REPEATS[results.scale][-1]
    for case, name in named(results).items():
        for method, label in methods.items():
            row, least = results.row(case, method, "spmv", repeats=count), results.value(case, method, "least_bytes")
            if row is None:
                continue
            cold = results.value(case, method, "spmv_cold", repeats=1)
            rows.append({
                "Matrix": name, "Method": label, "Back end": row["backend"], "Time [µs]": 1e6 * row["value"],
                "20 bytes a non-zero [GB/s]": results.value(case, method, "bandwidth", repeats=count),
                "Least bytes [GB/s]": 1e-9 * least / row["value"],
                "Of bound [%]": results.of_bound(row),
                "Cold [µs]": cold and 1e6 * cold, "Stored / non-zeros": results.value(case, method, "padding"),
            })  # fmt: skip
    note = f"Least bytes and what is stored are those as packed for {last} repeats, whose best parameters may differ."
    return Table("Every product", pandas.DataFrame(rows), [note] if count < last else [])


def plot(results):
    """Draw the bandwidths, as the paper does."""
    return drawn(results, COUNT)


def drawn(results, count):
    """Draw bandwidths at `count` repeats, many matrices in two rows, of what runs on the device as in the paper."""
    count = max(each for each in REPEATS[results.scale] if each <= count)
    names = named(results)
    made, panels = two_rows(PAGE, 5.4) if len(names) > ONE_ROW else figure(PAGE, 2.9)
    share = -(-len(names) // len(panels))
    ran = {method: name for method, name in _there(results, count).items()
           if results.backends(method, "bandwidth", repeats=count) != ["host"]}  # fmt: skip
    methods = {method: name for method, name in ran.items() if method not in IN_TABLE}
    left = "; ".join(ran[method] for method in IN_TABLE if method in ran)
    for k, axes in enumerate(panels):
        part = list(names)[k * share : (k + 1) * share]
        bars(axes, results, "bandwidth", methods, unit="GB/s", quantity="Effective bandwidth",
             parameters={"repeats": count}, beside=names,
             cases={case: names[case].replace("FEM", "FEM\n") for case in part})  # fmt: skip
    repeats = f"{count} repeats" if count > 1 else "1 repeat"
    is_above = any(line.get_label() == MEMORY for axes in panels for line in axes.lines)
    above = ", of which kernels move a part: so rates may lie above the memory's" * is_above
    told = [f"{repeats}, 20 bytes a non-zero{above}", *[f"in the table alone: {left}"] * bool(left), *marks(results)]
    caption(made, results, "; ".join(told))
    return made
