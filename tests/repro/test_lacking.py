"""Where a selection leaves nothing, or no kernel, of an artefact: an error where it was alone, else a line."""

import pytest

from repro import Cell
from repro.cache import lacking
from repro.cache.plan import Selection
from repro.discovery import UnknownName

CUDA, C = Cell("one", "fast", "cuda"), Cell("one", "fast", "openmp")
BASELINE, COUNT = Cell("one", "slow", "host"), Cell("one", "count", "host")


@pytest.mark.parametrize(
    ("selection", "cells", "told"),
    [
        (Selection(), [CUDA], ""),
        (Selection(backends=("openmp",)), [CUDA, C], ""),
        (Selection(backends=("openmp",)), [COUNT], ""),  # which has no kernels in any case
        (Selection(backends=("openmp",)), [CUDA, BASELINE], "a has nothing for openmp, but for cuda"),
        (Selection(backends=("host",)), [CUDA, BASELINE], ""),
        (Selection(backends=("host",)), [C, CUDA], "a has nothing for host, but for cuda, openmp"),
        (Selection({"method": ["slow"]}, ("openmp",)), [CUDA, BASELINE], ""),  # no kernel was asked for
    ],
)
def test_what_a_back_end_leaves_of_an_artefact(selection, cells, told):
    found = lacking.check_backends(selection, {"a": cells, "b": [COUNT]})
    assert found == ([told] if told else [])


def test_an_artefact_without_kernels_for_a_back_end_is_a_line_and_an_error_where_none_has_any():
    chosen, without = Selection(backends=("openmp",)), [CUDA, BASELINE]
    told = lacking.check_backends(chosen, {"a": [C], **{name: without for name in "bcdefghi"}})
    assert told == ["b, c, d, e, f, g and 2 more have nothing for openmp, but for cuda"]
    assert lacking.check_backends(chosen, {"a": [C, CUDA], "b": [COUNT]}) == []
    with pytest.raises(UnknownName, match=r"^b has nothing for openmp, but for cuda$"):
        lacking.check_backends(chosen, {"b": without})


def test_options_that_go_not_together_say_which_values_would():
    cells = [Cell("one", "fast", "cuda", {"block": 32}), Cell("one", "slow", "openmp", {"block": 64})]
    lacking.require_some(Selection({"method": ["fast"]}, ("cuda",)), cells)
    with pytest.raises(UnknownName) as told:
        lacking.require_some(Selection({"method": ["fast"]}, ("openmp",)), cells)
    assert str(told.value) == (
        "no cell matches all of method fast and backend openmp; "
        "with the rest of it there is method slow, or backend cuda"
    )
    with pytest.raises(UnknownName, match="no two of these go together"):
        lacking.require_some(Selection({"method": ["fast"], "block": ["64"], "case": ["two"]}), cells)
