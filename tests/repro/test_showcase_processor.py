"""A processor beside a GPU has tables and judgements of its own kernels."""

from types import SimpleNamespace

from repro.judge.claims.stored import Stored
from repro.site.showcase import losses, tables
from repro.site.showcase.ledger import Family, Ledger
from repro.site.showcase.page import Showcase
from repro.site.showcase.runs import OnCores
from tests.repro.claims_store import claim, effect

LINK = "[{}]({})".format


def test_a_processor_beside_a_gpu_is_judged_by_its_own_kernels(store):
    """The GPU's kernels would answer for its own, and the GPU's rivals do not run on it."""
    store.row("a", "fast", "solve", 1.0)
    store.row("a", "slow-gpu", "solve", 1.5)
    store.row("a", "fast", "solve", 8.0, backend="openmp")
    store.row("a", "slow-cores", "solve", 4.0, backend="host")
    family = Family("demo", "Solves", ("demo-table1",), "solve", "cold", ("slow*",), kernels={"fast": ("fast.py",)})
    store.judged(claim(effect(), '[claim.where]\ncpu = "table1 slow solve"\ngpu = "table1 fast solve"'))
    given, stored = [Ledger("demo", families=(family,))], OnCores(store.results, "box")
    ((of_gpu,), _), ((own,), ran) = losses.compared(given, Stored(store.results, "box")), losses.compared(given, stored)
    assert (of_gpu.backend, of_gpu.rival, of_gpu.behind) == ("cuda", "slow-gpu", False)
    assert (own.backend, own.rival, own.behind, own.difference.ratio) == ("openmp", "slow-cores", True, 0.5)
    assert ran == {"slow-cores": 1}
    assert "a, openmp | 8.00" in tables.kernels(given, stored, LINK).replace(tables.FIRM, " ")


def test_a_processor_has_tables_of_its_own_where_a_gpu_would_answer_for_it(store):
    def found(machine, cpu, gpu, *backends):
        facts = {"cpu": cpu, "cores": 16} | ({"gpu": [gpu]} if gpu else {})
        return SimpleNamespace(machine=machine, backends=backends, manifest={"machine": facts})

    shown = Showcase(store.results)
    shown.found = [found("card", "CPU 1", "GPU 1", "cuda"), found("both", "CPU 1", "GPU 1", "cuda", "openmp"),
                   found("cores", "CPU 2", "", "openmp")]  # fmt: skip
    shown.machines = ["card", "both", "cores"]
    shown.stores = {name: Stored(store.results, name) for name in shown.machines}
    own = "both, its processor: CPU 1, 16 cores"
    assert list(shown.judged()) == ["card: GPU 1", "both: GPU 1", own, "cores: CPU 2"]
    assert [name for name, each in shown.judged().items() if isinstance(each, OnCores)] == [own]
