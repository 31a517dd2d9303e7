"""The command line: what it answers, how fast, and how it takes what is wrong."""

import json
import resource
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from repro.cli import main
from repro.machine import identity
from repro.model import BACKENDS
from tests.checkout import program
from tests.repro.test_run import again


def answer(capsys):
    return json.loads(capsys.readouterr().out)


def test_list(laboratory, capsys):
    assert main(["list"]) == 0
    out = capsys.readouterr().out
    assert "demo2020-table1" in out and "Sums by two methods" in out and "0.05" in out
    assert main(["list", "--kind", "figure", "--json"]) == 0
    (entry,) = answer(capsys)
    assert entry["id"] == "demo2020-figure2" and entry["minutes"] == {"smoke": 0.01} and entry["error"] == ""


def seconds_of(run) -> float:
    """Processor time of a process."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert run().returncode == 0
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


@pytest.fixture(scope="module")
def drawing():
    """Processor time of importing what draws."""
    draws = [sys.executable, "-c", "import pandas, matplotlib.pyplot"]
    return min(seconds_of(lambda: subprocess.run(draws, check=True)) for _ in range(2))


@pytest.mark.parametrize("arguments", [["list"], ["--help"], ["run", "--help"]])
def test_listing_and_help_answer_at_once(laboratory, drawing, arguments):
    """Nothing heavy is imported, and it takes less of a processor than importing what draws, however slow that is."""
    code = (
        f"import sys; from repro.cli import main; status = main({arguments!r}); "
        "print({'numpy', 'pandas', 'matplotlib', 'fakelab'} & set(sys.modules), file=sys.stderr); sys.exit(status)"
    )
    done = []

    def answered():
        done.append(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True))
        return done[-1]

    own = min(seconds_of(answered) for _ in range(2))  # whatever else runs
    counted = "coverage" in sys.modules and sys.modules["coverage"].Coverage.current()  # every line that is run
    assert own < (3 if counted else 1) * drawing
    assert done[0].stderr.strip() == "set()"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["run"], "--all"),
        (["run", "demo2020-tabel1"], "did you mean demo2020-table1"),
        (["run", ""], "no artefact ''"),
        (["run", "--all", "--kind", "picture"], "no kind 'picture'"),
        (["run", "--all", "--scale", "huge"], "no scale 'huge'"),
        (["run", "--all", "--backend", "metal"], "no backend 'metal'"),
        (["run", "table1", "--only", "method"], "KEY=VALUE"),
        (["run", "table1", "--only", "method=lop"], "did you mean loop"),
        (["run", "table1", "--only", "stride=2"], "no stride '2'"),
        (["run", "--all", "--backend", "openmp"], "openmp, but for cuda, opencl; demo2020-figure2 has nothing"),
        (["run", "table1", "--backend", "opencl", "--only", "backend=cuda"], "backend cuda and backend opencl"),
        (["run", "table1", "--machine", "a/b"], "machine's name"),
        (["run", "table1", "--machine", ".hidden"], "machine's name"),
        (["run", "table1", "--mesh", "demo2020/number=x"], "did you mean demo2020/numbers"),
        (["run", "figure2", "--mesh", "demo2020/numbers=trace.log"], "dataset of these artefacts"),
        (["run", "table1", *2 * ["--mesh", "demo2020/numbers=trace.log"]], "demo2020/numbers is given two files"),
        (["run", "table1", "--matrix", "trace.log"], "has no name; `repro data list` shows the names"),
        (["run", "table1", "--seed", "-1"], "--seed"),
        (["data", "build", "demo2020/numbrs"], "did you mean demo2020/numbers"),
        (["nonsense"], "nonsense"),
    ],
)
def test_wrong_commands_end_with_2_and_a_word_of_advice(laboratory, capsys, arguments, words):
    laboratory.log.write_text("1\n")
    where = [] if arguments[0] in ("data", "nonsense") else ["--results", str(laboratory.results)]
    if arguments[0] in ("run", "status", "compare") and "--scale" not in arguments:
        where += ["--scale", "smoke"]
    arguments = [str(laboratory.log).join(part.split("trace.log")) for part in arguments]
    assert main([*arguments, *where]) == 2
    captured = capsys.readouterr()
    assert words in captured.err.replace("\n", " ") and captured.out == ""
    assert not laboratory.results.exists()


def test_a_missing_file_is_one_line(laboratory, capsys):
    assert main(["run", "table1", "--scale", "smoke", "--mesh", "demo2020/numbers=/nowhere"]) == 2
    assert (
        capsys.readouterr().err == "repro: there is no file /nowhere to put in the place of dataset demo2020/numbers\n"
    )


def test_an_environment_that_cannot_be_imported_is_one_line(laboratory, capsys):
    (laboratory.folder / "fakelab" / "environment.py").write_text("import no_such_module")
    assert main(["doctor"]) == 1
    assert (
        capsys.readouterr().err == "repro: fakelab.environment cannot be imported: No module named 'no_such_module'\n"
    )


def test_version(capsys):
    assert main(["--version"]) == 0
    assert capsys.readouterr().out.startswith("repro 0.")


def test_run_in_json(laboratory, capsys):
    assert laboratory.run("table1", "--json") == 0
    summary = answer(capsys)
    assert (summary["measured"], summary["skipped"], summary["failed"], summary["exit_code"]) == (6, 3, 0, 0)
    assert any(file.endswith("table1.smoke.csv") for file in summary["files"])


def test_dry_run_measures_nothing_and_knows_the_time(laboratory, capsys):
    assert laboratory.run("table1", "--dry-run", "--json") == 0
    (plan,) = answer(capsys)
    assert (plan["cells"], plan["to_run"], plan["to_skip"], plan["reasons"]) == (9, 6, 3, {"never run": 6})
    assert plan["seconds"] == pytest.approx(0.05 * 60 * 6 / 9)  # MINUTES, less the cells of a GPU that is not here
    assert not laboratory.results.exists() and laboratory.traces() == []
    laboratory.run("table1")
    capsys.readouterr()
    assert laboratory.run("table1", "--dry-run", "--force", "--json") == 0
    (plan,) = answer(capsys)
    recorded = [json.loads(path.read_text())["seconds"] for path in laboratory.cell_files()]
    done = [seconds for path, seconds in zip(laboratory.cell_files(), recorded, strict=True) if "cuda" not in path.name]
    assert plan["seconds"] == pytest.approx(sum(done))
    assert laboratory.run("table1", "--dry-run") == 0
    said = capsys.readouterr().err
    assert "3 cells to skip, as cuda is not here: no cuda device (see `repro doctor`)" in said
    assert "0 cells to measure" in said
    again(laboratory)
    assert laboratory.run("table1", "table3", "--dry-run", "--force", "--json") == 0
    assert [plan["to_skip"] for plan in answer(capsys)] == [3, 0]  # the second shows cells of the first


def test_status(laboratory, capsys):
    where = ["--scale", "smoke", "--results", str(laboratory.results)]
    laboratory.run("table1", "--only", "method=loop")
    capsys.readouterr()
    assert main(["status", "--json", *where]) == 0
    table, figure = answer(capsys)
    states = {(cell["case"], cell["backend"]): cell["state"] for cell in table["cells"]}
    assert states["first", "host"] == "done" and states["first", "opencl"] == "to run"
    assert figure["cells"][0]["reason"] == "never run"
    assert main(["status", *where]) == 0
    assert "6 never run" in capsys.readouterr().out


@pytest.mark.parametrize("command", [["status"], ["compare"], ["claims"], ["figures"]], ids=" ".join)
def test_a_machine_that_is_named_has_to_have_results(laboratory, capsys, command):
    laboratory.has_run("table1")
    capsys.readouterr()
    where = ["--results", str(laboratory.results), "--machine"]
    assert main([*command, *where, "elsewhere"]) == 2
    out, err = capsys.readouterr()
    assert out == "" and "'elsewhere'; there are: bench" in err
    assert main([*command, *where, "bench", *(["--format", "png"] if command == ["figures"] else [])]) == 0


def test_help_names_every_back_end(capsys, monkeypatch):
    monkeypatch.setenv("COLUMNS", "200")
    assert main(["run", "--help"]) == 0
    text = " ".join(capsys.readouterr().out.replace("│", " ").split())
    assert ", ".join(BACKENDS) in text and "with 'host' they alone" in text


def test_the_command_line_says_which_commands_there_are():
    import repro.cli

    named = set(repro.cli.__doc__.split("Each command")[0].split())
    names = {each.name for each in repro.cli.app.registered_commands + repro.cli.app.registered_groups}
    assert names <= named


# Of datasets of which one cannot be built, and one can be downloaded; the processes that build see the file.
ENTRIES = """
class Broken(Entry):
    def build(self, scale):
        raise ValueError("disk [full]")

    def verify(self, scale):
        raise ValueError("not a mesh")


class Public(Entry):
    address, public_scales, path = "https://example.org/x", ("paper",), Path(os.environ["FAKELAB_LOG"] + ".downloaded")

    def download(self):
        with self.path.open("a") as stream:
            stream.write("once ")

    def is_public(self, scale):
        return scale == "paper" and self.path.exists()


def catalogue():
    return [Broken("a/broken"), Public("a/public", stand_in_for="it")]
"""


def test_a_dataset_that_cannot_be_had_costs_no_other(laboratory, capsys):
    written = laboratory.folder / "fakelab" / "environment.py"
    written.write_text(written.read_text() + ENTRIES)
    downloaded = Path(f"{laboratory.log}.downloaded")
    assert main(["data", "build", "--scale", "paper", "--download"]) == 1
    said = capsys.readouterr()
    assert "disk [full]" in said.err and "a/public: downloaded" in said.err
    assert "a/public: from https://example.org/x" in said.err and downloaded.read_text() == "once "
    assert main(["data", "build", "a/public", "--scale", "smoke", "--download"]) == 0  # of which there is no public one
    assert "a/public: stand-in" in capsys.readouterr().err and downloaded.read_text() == "once "
    assert main(["data", "verify", "--json", "--scale", "paper"]) == 1
    assert [entry["problems"] for entry in answer(capsys)] == [["ValueError: not a mesh"], []]
    assert main(["data", "list"]) == 0
    assert "paper (downloaded)" not in capsys.readouterr().out  # listed as cached only where it is
    assert main(["data", "build", "--scale", "huge"]) == 2


def test_a_scale_that_a_dataset_lacks_is_said(laboratory, capsys, monkeypatch):
    from repro import environment
    from repro.run import building

    monkeypatch.setattr(building, "build", lambda pairs, say: [building.Built() for _ in pairs])
    made = type(environment.catalogue()[0])
    entries = [made("a/all"), made("a/large", scales=("paper", "large")), made("a/own", scales=())]
    monkeypatch.setattr(environment.load(), "catalogue", lambda: entries)
    for command in ("build", "verify"):
        assert main(["data", command, "a/large", "--scale", "smoke"]) == 2
        assert "a/large is not at scale smoke; give --scale paper or large" in capsys.readouterr().err
        assert main(["data", command, "a/own", "--scale", "smoke"]) == 2
        assert "a file of your own, which a run is given: --mesh a/own=FILE" in capsys.readouterr().err
        assert main(["data", command, "--scale", "smoke"]) == 0
        assert capsys.readouterr().err.startswith("not at scale smoke: a/large\n")


def test_without_its_packages_it_says_how_to_get_them():
    """As before the first `make`: -S leaves out what is installed."""
    words = [sys.executable, "-S", "-m", "repro", "list"]
    done = subprocess.run(words, cwd=Path(__file__).parents[2], capture_output=True, text=True)
    assert done.returncode == 1 and "has no package 'typer'; `make setup` makes" in done.stderr
    assert "Traceback" not in done.stderr


def test_data(laboratory, capsys):
    assert main(["data", "list", "--json"]) == 0
    assert answer(capsys)[0]["cached"] == ["smoke"]
    assert main(["data", "list"]) == 0
    assert "The first numbers" in capsys.readouterr().out
    assert main(["data", "verify", "--scale", "smoke"]) == 0
    assert main(["data", "build", "--scale", "smoke"]) == 0
    environment = laboratory.folder / "fakelab" / "environment.py"
    environment.write_text(
        environment.read_text().replace("return []\n\n    def is", 'return ["one too many"]\n\n    def is')
    )
    done = laboratory.call("data", "verify", "--scale", "smoke", "--json")
    assert done.returncode == 1 and json.loads(done.stdout)[0]["problems"] == ["one too many"]


def test_doctor(laboratory, capsys):
    assert main(["doctor", "--json", "--results", str(laboratory.results)]) == 0
    found = answer(capsys)
    assert {entry["name"]: entry["available"] for entry in found["presences"]} == {"opencl": True, "cuda": False}
    assert found["machine"] == "bench" and found["fingerprint"]["python"]
    assert found["cache"] == str(laboratory.folder / "cache")
    assert main(["doctor", "--results", str(laboratory.results)]) == 0
    assert "plug one in for cuda" in capsys.readouterr().out
    (laboratory.paper / "table9_x.py").write_text("[")
    assert main(["doctor", "--results", str(laboratory.results)]) == 1


def test_doctor_measures_and_keeps_ceilings(laboratory, capsys):
    environment = laboratory.folder / "fakelab" / "environment.py"
    environment.write_text(
        environment.read_text().replace(
            "def device_probes(device):\n    return []",
            "def device_probes(device):\n"
            "    from repro.run.ceilings import CeilingKernel\n"
            "    yield CeilingKernel('copy', 'copy', 8000, lambda: bytes(8000), bytes=8000)",
        )
    )
    where = ["--results", str(laboratory.results)]
    done = laboratory.call("doctor", "--ceilings", *where)
    assert done.returncode == 0 and "copy, 8.00 kB" in done.stdout and "nothing measures them" in done.stderr
    assert main(["doctor", "--json", *where]) == 0
    found = answer(capsys)
    assert [name.partition(",")[0] for name in found["ceilings"]] == ["Pretend device"] and found[
        "stale_ceilings"
    ] == {}
    # A smoke run uses them.
    assert laboratory.call("run", "table1", "--scale", "smoke", *where).returncode == 0
    lines = laboratory.file("table1.smoke.csv").read_text().splitlines()
    work = lines[0].split(",").index("work_bytes")
    assert all(line.split(",")[work] for line in lines[1:] if ",time," in line)
    assert "no ceilings of Pretend device" not in laboratory.file("table1.smoke.md").read_text()
    environment.write_text(environment.read_text().replace("bytes=8000", "bytes=16000"))
    assert main(["doctor", *where]) == 0
    out, err = capsys.readouterr()
    rows = [line.split() for line in out.splitlines() if line.startswith(" Pretend device")]
    assert [row[-3:] for row in rows] == [["this", "host", "stale"]]
    assert "cores: fakelab/environment.py changed\n" in err
    for name in ("machine.json", "ceilings.json"):  # as of another host of this kind
        path = laboratory.results / "bench" / name
        path.write_text(path.read_text().replace(identity(), "another"))
    assert main(["doctor", *where]) == 0
    assert "another of this kind" in capsys.readouterr().out
    assert main(["doctor", "--json", *where]) == 0
    assert len(answer(capsys)["ceilings_of_another_host"]) == 1


def test_compare(laboratory, capsys, monkeypatch):
    from repro import published

    where = ["--scale", "smoke", "--results", str(laboratory.results)]
    laboratory.results.mkdir()
    assert main(["compare", "table1", *where]) == 1
    assert "not run at scale smoke" in capsys.readouterr().err
    laboratory.run("table1")
    number = published.Number("demo2020-table1", "first", "loop", "sum", 90.0, "", "Table 1", "90")
    monkeypatch.setattr(published, "load", lambda artefact: published.Published(artefact, (number,)))
    capsys.readouterr()
    assert main(["compare", "table1", "--json", *where]) == 0
    (row,) = answer(capsys)
    assert (row["ours"], row["published"], row["ratio"], row["backend"]) == (45.0, 90.0, 0.5, "host")
    assert main(["compare", "table1", *where]) == 0
    assert "(bench, scale smoke)" in capsys.readouterr().out.splitlines()[0]
    assert main(["compare", *where]) == 0
    out, err = capsys.readouterr()
    assert "Table 1" in out and "own sizes" in err
    monkeypatch.setenv("COLUMNS", "80")
    assert main(["compare", *where]) == 0
    assert ["first", "loop", "host", "sum", "45", "90", "0.5"] in [
        line.split() for line in capsys.readouterr().out.splitlines()
    ]


def test_compare_with_older_results_fails_on_what_is_slower(laboratory, capsys):
    where = ["--scale", "smoke", "--results", str(laboratory.results)]
    laboratory.run("table1")
    old = laboratory.results / "before"
    shutil.copytree(laboratory.results / "bench" / "demo2020", old / "demo2020")
    assert main(["compare", "table1", "--with", "before", *where]) == 0
    lines = laboratory.file("table1.smoke.csv").read_text().splitlines()
    for folder, seconds in ((old / "demo2020", ("10", "9", "11")), (laboratory.file(""), ("20", "19", "21"))):
        row = dict(zip(lines[0].split(","), lines[1].split(","), strict=True))
        row.update(zip(("value", "ci_low", "ci_high"), seconds, strict=True))
        rest = lines[2:] if folder.parent == old else []
        (folder / "table1.smoke.csv").write_text("\n".join([lines[0], ",".join(row.values()), *rest]))
    capsys.readouterr()
    assert main(["compare", "table1", "--json", "--with", str(old), "--fail-on-regression", *where]) == 1
    rows = answer(capsys)
    assert rows[0]["verdict"] == "slower" and {row["verdict"] for row in rows[1:]} == {"lost"}
    assert [rows[0][name] for name in ("old_low", "old_high", "new_low", "new_high")] == [9, 11, 19, 21]
    assert main(["compare", "table1", "--with", str(old), *where]) == 0
    out, err = capsys.readouterr()
    assert "slower or lost" in err and "9 to 11" in out and "19 to 21" in out
    assert main(["compare", "table1", "--with", "nowhere", *where]) == 2
    assert "no folder of results" in capsys.readouterr().err


def test_a_closed_pipe_is_no_error(laboratory):
    command = f"{sys.executable} -m repro list | true"
    done = subprocess.run([program("bash"), "-o", "pipefail", "-c", command], capture_output=True, text=True)
    assert done.stderr == ""
