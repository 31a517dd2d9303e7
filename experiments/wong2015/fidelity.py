"""Nearness of each matrix to the paper's: facts of Tables 2 and 6 and of the public ones' collection, found or not.

A stand-in is *exact* where its recipe leaves nothing to choose, *resembles* where all that is known holds and
something is known of how rows lie beside one another, and *does not* otherwise. The collection's own index is in
published/wong2015/collection.toml; recipes in datasets/wong2015 say what a matrix is of (`MAKE`). A verdict counts for
claims (`FIDELITY`): claims about matrices that do not resemble the paper's are not tested.
"""

from __future__ import annotations

import numpy as np
import pandas
import scipy.sparse

import datasets
from experiments.wong2015 import HEARTS, dataset
from experiments.wong2015.matrices import OWN, named
from repro import published
from repro.cache.store import read_toml
from repro.show.tables import Table

EXACT, RESEMBLES, UNLIKE = "exact", "resembles", "does not"
PADS, DEVIATES = 0.1, 0.15  # relative difference of the padding saved and of deviations, up to which they agree
NODES, ENTRIES, LONGEST = 0.03, 0.05, 0.1  # of a patient's heart, which no recipe can hit
DIGIT = {"padding_saved": 0.005, "pattern_symmetry": 0.05}  # of the last printed; of entries that chance may mirror
WARP = 32
BESIDE = "stand_in_"  # before a fact's name: of the stand-in of a matrix that was downloaded
ITSELF = "the matrix itself"
MEANT = {"anatomy-30k": "heart-30k"}  # whose numbers an anatomy is held to
FACTS = {
    "rows": "count", "nonzeros": "count", "row_length_min": "count", "row_length_max": "count",
    "row_length_deviation": "", "empty_rows": "count", "single_rows": "count", "pattern_symmetry": "",
    "bandwidth": "count", "profile": "count", "padding_saved": "%",
}  # fmt: skip


def facts(matrix) -> dict[str, float]:
    """Return what a CSR matrix is like, by the names of `FACTS`.

    `row_length_min` is of the rows that are not empty, and `single_rows` counts the rows of one entry. The share of the
    entries off the diagonal whose mirror image is there, too, is `pattern_symmetry`. The mean distance from the first
    entry of a row to its diagonal is `profile`. Sorting the rows saves `padding_saved`, a share of the values that are
    stored in warps of 32 rows.
    """
    lengths, rows = np.diff(matrix.indptr), np.arange(matrix.shape[0])
    full = lengths > 0
    pattern = scipy.sparse.csr_array((np.ones(matrix.nnz, np.int8), matrix.indices, matrix.indptr), matrix.shape)
    diagonal = int(pattern.diagonal().sum())
    mirrored, off = pattern.multiply(pattern.T.tocsr()).nnz - diagonal, matrix.nnz - diagonal
    reach = rows[full] - matrix.indices[matrix.indptr[:-1][full]]
    return {
        "rows": len(rows), "nonzeros": matrix.nnz, "row_length_min": lengths[full].min(),
        "row_length_max": lengths.max(), "row_length_deviation": lengths.std(), "empty_rows": (~full).sum(),
        "single_rows": (lengths == 1).sum(), "pattern_symmetry": mirrored / off if off else 1.0,
        "bandwidth": abs(np.repeat(rows, lengths) - matrix.indices).max(),
        "profile": np.maximum(reach, 0).sum() / len(rows),
        "padding_saved": 100 * (1 - _stored(-np.sort(-lengths)) / _stored(lengths)),
    }  # fmt: skip


def _stored(lengths):
    whole = np.zeros(-(-len(lengths) // WARP) * WARP, dtype=np.int64)
    whole[: len(lengths)] = lengths
    return WARP * whole.reshape(-1, WARP).max(axis=1).sum()


def known(case) -> dict[str, float]:
    """Return what is known of the paper's matrix, by the names of `FACTS`."""
    table = published.load("wong2015-table2")
    beside = read_toml(published.ROOT / "wong2015" / "collection.toml").get(case, {})
    meant = MEANT.get(case, case)
    found = {name: number.value for name in FACTS if (number := table.get(meant, "matrix", name))}
    saved = published.load("wong2015-table6").get(meant, "k1", "padding_difference")
    return found | beside | ({"padding_saved": saved.value} if saved else {})


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
        "Symmetry: the share of the entries off the diagonal whose mirror image is there, too. Paper, collection: what "
        "Table 6 and the collection's index say. The deviations of the row lengths of Circuit and of Economics were "
        "chosen: no source confirms them.",
        "`repro data build --download --scale paper` fetches the public matrices, which then take the place of the "
        "stand-ins; each stand-in is then held to its matrix.",
    ]
    return [Table("How near the matrices are to the paper's", pandas.DataFrame(rows), notes)] if rows else []


def _row(name, found, case, said, wrong):
    told = known(case)
    return {
        "Matrix": name, "Empty rows": found["empty_rows"], "Rows of one entry": found["single_rows"],
        "Symmetry": found["pattern_symmetry"], "collection": told.get("pattern_symmetry"),
        "Bandwidth": found["bandwidth"], "Profile": found["profile"],
        "Deviation of row lengths": found["row_length_deviation"],
        "Sorting saves of padding [%]": found["padding_saved"], "paper": told.get("padding_saved"),
        "Verdict": said, "Why not": ", ".join(wrong).replace("_", " "),
    }  # fmt: skip
