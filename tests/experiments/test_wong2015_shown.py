"""Tables of wong2015 that show several back ends, of results that are partly there."""

import pandas
import pytest

from experiments.wong2015 import figure16_power, table4_break_even, table8_block_sizes
from repro import ReproError
from repro.model import Row
from repro.tables import Results

TIMES = ("packing", "reorder_gpu", "reorder_cpu", "product", "csr_product")
DEVICES = {"cuda": "a GPU", "opencl": "a CPU"}
NAMED = "Devices: `cuda` on a GPU; `opencl` on a CPU."


def results(artefact, metrics, backends, method="k1", case="heart-3k", unit="s"):
    rows = [Row(artefact, "large", case, method, backend, DEVICES[backend], metric, 1e-3, unit)
            for backend in backends for metric in metrics]  # fmt: skip
    return Results(pandas.DataFrame([row.as_dict() for row in rows]), "large", "m", artefact)


def test_table_4_names_the_devices_of_its_back_ends():
    both = table4_break_even.tables(results("wong2015-table4", TIMES, DEVICES))[-1]
    assert set(both.frame["Back end"]) == {"cuda", "opencl"} and NAMED in both.notes
    one = table4_break_even.tables(results("wong2015-table4", TIMES, ["cuda"]))
    assert [table.title for table in one] == ["What Table 4 is made of"]  # no α was measured
    assert not any(note.startswith("Devices") for note in one[-1].notes)


def test_figure_16_names_devices_and_leaves_out_what_nothing_measured():
    (table,) = figure16_power.tables(results("wong2015-figure16", ["step", "energy"], DEVICES, method="ellwarp"))
    assert NAMED in table.notes and "Energy of a step [J]" in table.frame.columns
    assert "Left out, since nothing of it was measured: Speed-up per TDP watt; TDP [W]; Power [W]." in table.notes


@pytest.mark.parametrize("given", ["none", "nan", "-5", "0", "inf"])
def test_a_power_that_is_none_is_refused_before_anything_is_measured(given, monkeypatch):
    monkeypatch.setenv("REPRO_CPU_TDP", given)
    with pytest.raises(ReproError, match=f"power in watts, as 130; '{given}' is none"):
        figure16_power.cells("smoke")
    monkeypatch.setenv("REPRO_CPU_TDP", "130.5")
    assert figure16_power.cells("smoke")


def test_figure_16_is_none_where_no_watts_are_known_and_its_table_says_why():
    """The energy of a step is a panel of its own, whatever is known of watts."""
    without, energy = (results("wong2015-figure16", ["nodes", "step", *more], DEVICES, method="ellwarp")
                       for more in ([], ["energy"]))  # fmt: skip
    assert figure16_power.plot(without) is None
    (table,) = figure16_power.tables(without)
    assert set(table.frame["TDP from"]) == {"nothing says it"}
    assert any(note.startswith("No speed-up per watt: ") for note in table.notes)
    assert [axes.get_ylabel() for axes in figure16_power.plot(energy).axes] == ["Energy of a step [J]"]


def test_parameters_name_the_back_end_that_they_are_of():
    """Another's were searched for, too: its device is none of the figure's."""
    found = results("wong2015-table8", ["block_size_at_1"], DEVICES, case="circuit", unit="count")
    text = table8_block_sizes.plot(found)._supxlabel.get_text().replace("\n", " ")
    assert "a GPU" in text and "kernels through cuda" in text and "a CPU" not in text
