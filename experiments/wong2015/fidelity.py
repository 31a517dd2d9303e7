"""How near each matrix comes to the paper's: what Tables 2 and 6 and descriptions of the public ones say, found or not.

A stand-in is *exact* where its recipe leaves nothing to choose, *resembles* where all that is known holds and
something is known of how rows lie beside one another, and *does not* otherwise. Recipes in datasets/wong2015 say what
is known beside the paper: whether the pattern is symmetric (`SYMMETRIC`), empty rows (`EMPTY`), and what the matrix is
of (`MAKE`). A verdict counts for claims (`FIDELITY`): those about matrices that do not resemble theirs are not tested.
"""

from __future__ import annotations

import numpy as np
import pandas

import datasets
from experiments.wong2015 import HEARTS, dataset
from experiments.wong2015.matrices import OWN, named
from repro import published
from repro.show.tables import Table

EXACT, RESEMBLES, UNLIKE = "exact", "resembles", "does not"
PADS, DEVIATES = 0.1, 0.15  # relative difference of the padding saved and of deviations, up to which they agree
NODES, ENTRIES, LONGEST = 0.03, 0.05, 0.1  # of a patient's heart, which no recipe can hit
DIGIT = {"padding_saved": 0.005}  # of the last printed
WARP = 32
BESIDE = "stand_in_"  # before a fact's name: of the stand-in of a matrix that was downloaded
ITSELF = "the matrix itself"
MEANT = {"anatomy-30k": "heart-30k"}  # whose numbers an anatomy is held to
FACTS = {
    "rows": "count", "nonzeros": "count", "row_length_min": "count", "row_length_max": "count",
    "row_length_deviation": "", "empty_rows": "count", "pattern_symmetric": "count", "bandwidth": "count",
    "profile": "count", "padding_saved": "%",
}  # fmt: skip


def facts(matrix) -> dict[str, float]:
    """Return what a CSR matrix is like, by the names of `FACTS`.

    `row_length_min` is of the rows that are not empty, `profile` the mean distance from the first entry of a row to
    its diagonal, and `padding_saved` the share of the values stored in warps of 32 rows that sorting the rows saves.
    """
    lengths, rows = np.diff(matrix.indptr), np.arange(matrix.shape[0])
    full = lengths > 0
    turned = matrix.T.tocsr()
    turned.sort_indices()
    symmetric = np.array_equal(turned.indptr, matrix.indptr) and np.array_equal(turned.indices, matrix.indices)
    reach = rows[full] - matrix.indices[matrix.indptr[:-1][full]]
    return {
        "rows": len(rows), "nonzeros": matrix.nnz, "row_length_min": lengths[full].min(),
        "row_length_max": lengths.max(), "row_length_deviation": lengths.std(), "empty_rows": (~full).sum(),
        "pattern_symmetric": int(symmetric), "bandwidth": abs(np.repeat(rows, lengths) - matrix.indices).max(),
        "profile": np.maximum(reach, 0).sum() / len(rows),
        "padding_saved": 100 * (1 - _stored(-np.sort(-lengths)) / _stored(lengths)),
    }  # fmt: skip


def _stored(lengths):
    whole = np.zeros(-(-len(lengths) // WARP) * WARP, dtype=np.int64)
    whole[: len(lengths)] = lengths
    return WARP * whole.reshape(-1, WARP).max(axis=1).sum()


def known(case) -> dict[str, float]:
    """Return what is known of the paper's matrix, by the names of `FACTS`."""
    table, recipe = published.load("wong2015-table2"), datasets.entry(dataset(case)).recipe
    meant = MEANT.get(case, case)
    found = {name: number.value for name in FACTS if (number := table.get(meant, "matrix", name))}
    saved = published.load("wong2015-table6").get(meant, "k1", "padding_difference")
    beside = {
        "padding_saved": saved and saved.value,
        "pattern_symmetric": getattr(recipe, "SYMMETRIC", None),
        "empty_rows": getattr(recipe, "EMPTY", None),
    }
    return found | {name: float(value) for name, value in beside.items() if value is not None}  # fmt: skip


def misses(case, found) -> list[str]:
    """Return the names of what is known of the paper's matrix and not so of this one, which has these facts."""
    heart = case in (*HEARTS, *MEANT)
    within = {"padding_saved": PADS}
    if heart:
        within |= {"rows": NODES, "nonzeros": ENTRIES, "row_length_min": 1, "row_length_max": LONGEST}
    return [name for name, value in known(case).items()
            if abs(found[name] - value) > within.get(name, 0) * value + DIGIT.get(name, 0)]  # fmt: skip


def unlike(found, itself) -> list[str]:
    """Return the names of a stand-in's facts that are not so of the matrix itself; reach and profile may differ."""
    within = {"padding_saved": PADS, "row_length_deviation": DEVIATES}
    return [name for name, value in itself.items() if name not in ("bandwidth", "profile")
            and abs(found[name] - value) > within.get(name, 0) * value + DIGIT.get(name, 0)]  # fmt: skip


def verdict(case, found) -> str:
    """Return how near a matrix with these facts comes to the paper's: of `EXACT`, `RESEMBLES` and `UNLIKE`."""
    recipe, told = datasets.entry(dataset(case)).recipe, known(case)
    if misses(case, found):
        return UNLIKE
    if getattr(recipe, "FIDELITY", "") == EXACT:
        return EXACT
    return RESEMBLES if "padding_saved" in told or hasattr(recipe, "MAKE") else UNLIKE


def table(results) -> list[Table]:
    """Return the table of verdicts, where the facts were measured at the paper's sizes."""
    rows = []
    for case, name in named(results).items():
        found, beside = ({fact: results.value(case, "matrix", before + fact) for fact in FACTS}
                         for before in ("", BESIDE))  # fmt: skip
        if case == OWN or results.scale != "paper" or None in found.values():
            continue
        if None not in beside.values():
            wrong = unlike(beside, found)
            rows.append(_row(name, found, case, ITSELF, []))
            rows.append(_row(f"{name}, its stand-in", beside, case, UNLIKE if wrong else RESEMBLES, wrong))
            continue
        said, wrong = verdict(case, found), misses(case, found)
        rows.append(_row(name, found, case, said, wrong))
        if said == UNLIKE and not wrong:
            rows[-1]["Why not"] = "nothing is known of how its rows lie beside one another"
    notes = [
        "exact: by a published description that leaves nothing to choose; resembles: all that is known holds, and "
        "something is known of how rows lie beside one another; does not: the rest, whose claims cannot be tested.",
        "Profile: mean distance from the first entry of a row to the diagonal.",
        "`repro data build --download --scale paper` fetches the public matrices, which then take the place of the "
        "stand-ins; each stand-in is then held to its matrix.",
    ]
    return [Table("How near the matrices are to the paper's", pandas.DataFrame(rows), notes)] if rows else []


def _row(name, found, case, said, wrong):
    return {
        "Matrix": name, "Empty rows": found["empty_rows"], "Symmetric": "yes" if found["pattern_symmetric"] else "no",
        "Bandwidth": found["bandwidth"], "Profile": found["profile"],
        "Deviation of row lengths": found["row_length_deviation"],
        "Sorting saves of padding [%]": found["padding_saved"], "paper": known(case).get("padding_saved"),
        "Verdict": said, "Why not": ", ".join(wrong).replace("_", " "),
    }  # fmt: skip
