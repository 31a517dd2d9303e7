"""The scripts that `repro plan` writes, run by the shell and by Snakemake, in folders of any name."""

import csv
import os
import re
import shlex
import subprocess
import sys
from types import SimpleNamespace

import pytest

from repro.cli import main
from tests.checkout import program


@pytest.fixture(params=["plain", 'it\'s a "lab", $HOME * 1 #2'])
def place(laboratory, request, monkeypatch):
    """A folder for the plan, the script, and the results, of which every word has to reach its program whole."""
    laboratory.results = laboratory.folder / request.param / "my results"
    laboratory.results.parent.mkdir()
    monkeypatch.chdir(laboratory.results.parent)
    return laboratory.results.parent


def plan(*options):
    where = ["--output", "a plan.json", "--results", "my results"]
    assert main(["plan", "table1", "--scale", "smoke", *where, *options]) == 0


def rows(laboratory):
    with laboratory.file("table1.smoke.csv").open(newline="") as stream:
        return list(csv.DictReader(stream))


def shell(laboratory, command, **more):
    environment = {**os.environ, **laboratory.environment, **more}
    done = subprocess.run([program("bash"), "-euc", command], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr[-2000:]


def test_a_slurm_array_runs_every_shard(laboratory, place):
    """The script itself and the line that merges, by the shell, with the number that Slurm would set."""
    plan("--slurm", "a job.sh")
    text = (place / "a job.sh").read_text()
    assert "#SBATCH --array=1-2" in text and "sbatch --parsable 'a job.sh'" in text
    for number in "12":
        shell(laboratory, "bash 'a job.sh'", SLURM_ARRAY_TASK_ID=number)
    assert len(laboratory.traces()) == 6
    (line,) = [line for line in text.splitlines() if "--wrap" in line]
    shell(laboratory, shlex.split(line)[-1])
    assert len(rows(laboratory)) == 15


def test_a_snakefile_runs_every_shard(laboratory, place):
    """Its commands as Snakemake would run them: expressions of Python, of which wildcards are filled in."""
    plan("--snakemake", "Snakefile")
    names, text = {}, (place / "Snakefile").read_text()
    exec(text.partition("\nrule ")[0], names)
    merge, run = (eval(line, names) for line in re.findall("shell: (.*)", text))
    for number in names["SHARDS"]:
        shell(laboratory, run.format(wildcards=SimpleNamespace(number=number)))
    shell(laboratory, merge.format())
    assert names["DONE"] == f"{place}/Snakefile-shards/shard-{{number}}.done"
    assert len(rows(laboratory)) == 15 and len(laboratory.traces()) == 6


def test_snakemake_runs_every_shard(laboratory, place):
    pytest.importorskip("snakemake", reason="Snakemake is not installed (pip install snakemake)")
    plan("--snakemake", "Snakefile")
    shell(laboratory, f"{sys.executable} -m snakemake --snakefile Snakefile --cores 2")
    assert len(rows(laboratory)) == 15 and len(laboratory.traces()) == 6
