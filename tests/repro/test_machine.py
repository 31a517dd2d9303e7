"""Facts of the machine, and what the manifest keeps of them."""

import ctypes
import json
import re
import socket
import subprocess

import pytest

from repro import machine
from repro.run import manifest
from tests.checkout import program

CPUINFO = {
    "epyc": "cpu family\t: 26\nmodel\t\t: 2\nmodel name\t: AMD EPYC\n",
    "arm": "CPU implementer\t: 0x41\nCPU architecture: 8\nCPU part\t: 0xd0c\n",
}


@pytest.fixture
def told(monkeypatch, tmp_path):
    """Have the system tell of a processor in /proc/cpuinfo."""

    def use(text):
        monkeypatch.setattr(machine, "_CPUINFO", tmp_path / "cpuinfo")
        (tmp_path / "cpuinfo").write_text(text)
        forget()

    def forget():
        machine.cpu_told.cache_clear()
        machine.cpu_model.cache_clear()

    yield use
    forget()


@pytest.fixture
def named(monkeypatch, told):
    def use(cpuinfo="", **facts):
        told(cpuinfo)
        found = {"cpu": "?", "cores": 2} | facts
        monkeypatch.setattr(machine, "fingerprint", lambda: found | {"cpu": machine.processor(found["cpu"])})
        return machine.default_name()

    return use


@pytest.mark.parametrize(
    ("gpus", "name"),
    [
        (["NVIDIA H200"], "h200"),
        (["NVIDIA H200", "NVIDIA H200"], "h200-x2"),
        (["NVIDIA GeForce RTX 4090"], "rtx-4090"),
        (["NVIDIA A100-SXM4-80GB"], "a100-sxm4-80gb"),
        (["Tesla V100-PCIE-16GB"], "v100-pcie-16gb"),
    ],
)
def test_a_machine_is_named_by_its_gpu(named, gpus, name):
    assert named(gpu=gpus, driver="580") == name


@pytest.mark.parametrize(
    ("cpu", "cores", "name"),
    [
        ("Intel(R) Xeon(R) CPU E5-2690 v4 @ 2.60GHz", 2, "intel-xeon-e5-2690-v4-2-cores"),
        ("AMD EPYC 7B13 64-Core Processor", 1, "amd-epyc-7b13-1-core"),
        ("AMD EPYC 9654 96-Core Processor", 2, "amd-epyc-9654-2-cores"),
        ("Intel(R) Core(TM) Ultra 7 155H", 2, "intel-core-ultra-7-155h-2-cores"),
        ("Apple M2 Pro", 10, "apple-m2-pro-10-cores"),
        ("@@", 4, "cpu-4-cores"),
    ],
)
def test_without_one_it_is_named_by_its_processor_and_cores(named, cpu, cores, name):
    assert named(cpu=cpu, cores=cores) == name
    if name != "cpu-4-cores":  # a model number says all
        assert named(CPUINFO["epyc"], cpu=cpu, cores=cores) == name


@pytest.mark.parametrize(
    ("cpuinfo", "cpu", "name"),
    [
        ("epyc", "AMD EPYC", "amd-epyc-family-26-model-2-2-cores"),
        ("epyc", "AMD EPYC-Milan-v2 Processor", "amd-epyc-milan-v2-family-26-model-2-2-cores"),
        ("epyc", "Intel(R) Xeon(R) CPU @ 2.20GHz", "intel-xeon-family-26-model-2-2-cores"),
        ("arm", "aarch64", "aarch64-implementer-0x41-part-0xd0c-2-cores"),
    ],
)
def test_a_virtual_machines_name_has_the_generation_that_its_processor_does_not_say(named, cpuinfo, cpu, name):
    assert named(CPUINFO[cpuinfo], cpu=cpu) == name


def test_devices_name_the_processor_by_its_model(told):
    told(CPUINFO["epyc"])
    assert machine.cpu_model() == machine.named("AMD EPYC") == "AMD EPYC family 26 model 2"
    assert machine.named("cpu-znver5-AMD EPYC") == "cpu-znver5-AMD EPYC family 26 model 2"
    assert machine.named(machine.named("AMD EPYC")) == machine.named("AMD EPYC")
    assert machine.named("NVIDIA H200") == "NVIDIA H200"
    told("model name\t: Processor @ 2 GHz\n")  # nothing but ornaments
    assert machine.named("Processor @ 2 GHz") == "Processor @ 2 GHz"


def test_the_fingerprint_is_plain_and_stable():
    facts = machine.fingerprint()
    assert {"cpu", "cores", "memory_bytes", "system", "python", "packages"} <= set(facts)
    assert json.loads(json.dumps(facts)) == facts == machine.fingerprint()
    assert facts["cores"] >= 1 and facts["packages"]["numpy"]


def test_cores_respect_the_control_groups_quota(tmp_path):
    limit = tmp_path / "cpu.max"
    limit.write_text("150000 100000\n")
    assert machine._cgroup_cores(limit) == 1
    limit.write_text("400000 100000\n")
    assert machine._cgroup_cores(limit) == 4
    limit.write_text("max 100000\n")
    assert machine._cgroup_cores(limit) is None
    assert machine._cgroup_cores(tmp_path / "none") is None


class Management:
    """NVML as it answers on a machine with one GPU whose SM clock cannot be read."""

    def __init__(self, status=0):
        self.status, self.ended = status, False

    def nvmlInit_v2(self):
        return self.status

    def nvmlShutdown(self):
        self.ended = True

    def nvmlDeviceGetCount_v2(self, count):
        count._obj.value = 1
        return 0

    def nvmlSystemGetDriverVersion(self, buffer, length):
        buffer.value = b"580.65.06"
        return 0

    def nvmlDeviceGetHandleByIndex_v2(self, index, handle):
        handle._obj.value = 7
        return 0

    def nvmlDeviceGetName(self, handle, buffer, length):
        buffer.value = b"NVIDIA H200"
        return 0

    def nvmlDeviceGetUUID(self, handle, buffer, length):
        buffer.value = b"GPU-%d" % handle.value
        return 0

    def nvmlDeviceGetMemoryInfo(self, handle, sizes):
        sizes[0] = 150 << 30
        return 0

    def nvmlDeviceGetClockInfo(self, handle, kind, value):
        if kind == 1:
            return 3  # not supported
        value._obj.value = 1980
        return 0

    nvmlDeviceGetMaxClockInfo = nvmlDeviceGetClockInfo


class Sliced(Management):
    """The same of two cards, of which the first is cut into slices of two sizes."""

    def nvmlDeviceGetCount_v2(self, count):
        count._obj.value = 2
        return 0

    def nvmlDeviceGetHandleByIndex_v2(self, index, handle):
        handle._obj.value = 7 + index.value
        return 0

    def nvmlDeviceGetMigMode(self, card, current, pending):
        current._obj.value = self.cut(card)
        return 0

    def cut(self, card):
        return card.value == 7

    def nvmlDeviceGetMaxMigDeviceCount(self, card, count):
        count._obj.value = 3
        return 0

    def nvmlDeviceGetMigDeviceHandleByIndex(self, card, index, handle):
        handle._obj.value = 10 * card.value + index.value
        return 0 if index.value else 6  # the first is not there

    def nvmlDeviceGetUUID(self, handle, buffer, length):
        buffer.value = b"MIG-%d" % handle.value
        return 0

    def nvmlDeviceGetName(self, handle, buffer, length):
        buffer.value = {71: b"NVIDIA H200 MIG 1g.18gb", 72: b"NVIDIA H200 MIG 3g.71gb"}.get(
            handle.value, b"NVIDIA H200"
        )
        return 0


class AllSliced(Sliced):
    def cut(self, card):
        return True


@pytest.mark.parametrize(
    ("library", "visible", "names"),
    [
        (Sliced, "", ["NVIDIA H200"]), (Sliced, "MIG-72", ["NVIDIA H200 MIG 3g.71gb"]),
        (AllSliced, "", ["NVIDIA H200 MIG 1g.18gb"]), (AllSliced, "MIG-72", ["NVIDIA H200 MIG 3g.71gb"]),
    ],
)  # fmt: skip
def test_a_slice_of_a_card_passes_for_no_card(monkeypatch, library, visible, names):
    monkeypatch.setattr(ctypes, "CDLL", lambda name: library())
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    assert [gpu["name"] for gpu in machine.nvidia()["gpus"]] == names


class Two(Sliced):
    """Two cards, whole."""

    def cut(self, card):
        return False


class TwoKinds(Two):
    def nvmlDeviceGetName(self, handle, buffer, length):
        buffer.value = b"NVIDIA H%d00" % (handle.value - 6)
        return 0


@pytest.mark.parametrize(
    ("library", "visible", "handles"),
    [
        (Two, "", [7, 8]), (Two, "-1", [7, 8]), (Two, "0", [7]), (Two, "1", [8]), (Two, "MIG-8", [8]),
        (TwoKinds, "1", [7, 8]), (TwoKinds, "MIG-8", [8]),
    ],
)  # fmt: skip
def test_a_card_that_is_not_visible_is_not_there(monkeypatch, library, visible, handles):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", visible)
    monkeypatch.delenv("CUDA_DEVICE_ORDER", raising=False)
    assert [each.value for each in machine.Nvml(library()).handles()] == handles


def test_a_slice_is_named_by_its_size(named):
    assert named(gpu=["NVIDIA H200 MIG 1g.18gb"]) == "h200-mig-1g-18gb"


def test_nvidia_devices_are_read_through_the_management_library(monkeypatch):
    library = Management()
    monkeypatch.setattr(ctypes, "CDLL", lambda name: library)
    found = machine.nvidia()
    assert found["driver"] == "580.65.06" and library.ended
    (gpu,) = found["gpus"]
    assert gpu["name"] == "NVIDIA H200" and gpu["memory_bytes"] == 150 << 30
    assert gpu["memory_mhz"] == 1980 and "sm_mhz" not in gpu


def test_a_library_without_a_driver_is_no_device(monkeypatch):
    monkeypatch.setattr(ctypes, "CDLL", lambda name: Management(status=9))
    assert machine.nvidia() == {}


def git(folder, *arguments):
    command = [program("git"), "-c", "user.name=a", "-c", "user.email=a@b", "-C", str(folder), *arguments]
    subprocess.run(command, check=True, capture_output=True)


def commit(folder):
    found = manifest.revision(folder)
    return found.pop("host") and found


def test_the_revision_knows_commit_and_changes(tmp_path, monkeypatch):
    monkeypatch.setattr(manifest, "ASKED_EVERY", 1e-9)
    assert commit(tmp_path) == {"commit": None, "dirty": None}
    git(tmp_path, "init")
    assert commit(tmp_path) == {"commit": None, "dirty": None}
    (tmp_path / "kernel.c").write_text("1")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-m", "x")
    manifest._is_top.cache_clear()  # it was none a moment ago
    clean = manifest.revision(tmp_path)
    assert len(clean["commit"]) == 40 and clean["dirty"] is False
    (tmp_path / "results").mkdir()
    (tmp_path / "results" / "table.csv").write_text("1")
    assert manifest.revision(tmp_path)["dirty"] is False
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-m", "what was measured")
    assert manifest.revision(tmp_path) == clean  # of the same code
    (tmp_path / "new.c").write_text("2")
    assert manifest.revision(tmp_path)["dirty"] is True


def test_sources_inside_another_repository_have_no_commit(tmp_path):
    git(tmp_path, "init")
    git(tmp_path, "commit", "--allow-empty", "-m", "x")
    inner = tmp_path / "site-packages"
    inner.mkdir()
    assert commit(inner) == {"commit": None, "dirty": None}


def test_the_manifest_holds_what_a_result_depends_on(monkeypatch):
    monkeypatch.setenv("POCL_WORK_GROUP_METHOD", "loopvec")
    found = manifest.collect("repro run", 7, {"b": "22", "a": "11"}, [{"name": "host"}])
    assert found["command"] == "repro run" and found["seed"] == 7
    assert list(found["data"].items()) == [("a", "11"), ("b", "22")]
    assert found["devices"] == [{"name": "host"}]
    assert found["environment"]["POCL_WORK_GROUP_METHOD"] == "loopvec"
    assert found["machine"]["cpu"] and found["collected"].endswith("+00:00")
    assert {"commit", "dirty", "nvidia"} <= set(found)
    assert json.loads(json.dumps(found)) == found


def test_a_copy_without_history_says_what_it_is_a_copy_of(tmp_path, monkeypatch):
    assert commit(tmp_path) == {"commit": None, "dirty": None}
    monkeypatch.setenv("REPRO_COMMIT", "abc123")
    assert commit(tmp_path) == {"commit": "abc123", "dirty": None}


def test_a_host_is_told_by_a_token_that_does_not_name_it(tmp_path, monkeypatch):
    def token(boot):
        monkeypatch.setattr(machine, "_BOOT", tmp_path / boot)
        machine.host.cache_clear()
        return machine.host()

    (tmp_path / "first").write_text("a\n")
    (tmp_path / "second").write_text("b\n")
    tokens = [token(boot) for boot in ("first", "second", "nowhere", "first")]
    assert len(set(tokens)) == 3 and tokens[0] == tokens[3]
    assert all(re.fullmatch("[0-9a-f]{12}", each) for each in tokens)
    assert all(socket.gethostname() not in each for each in tokens)
    machine.host.cache_clear()


@pytest.fixture
def identity(monkeypatch, tmp_path):
    facts = {"cpu": "AMD EPYC 9654", "cores": 2}
    monkeypatch.setattr(machine, "fingerprint", lambda: facts)
    monkeypatch.setattr(machine, "_MACHINE_ID", tmp_path / "machine-id")

    def token(text=None, **changed):
        (tmp_path / "machine-id").unlink(missing_ok=True)
        if text is not None:
            (tmp_path / "machine-id").write_text(text)
        before = dict(facts)
        facts.update(changed)
        machine.identity.cache_clear()
        found = machine.identity()
        facts.clear()
        facts.update(before)
        return found

    yield token
    machine.identity.cache_clear()


def test_a_hosts_identity_stays_over_boots_and_affinities_and_names_nothing(identity, monkeypatch, tmp_path):
    first, second = "a" * 32 + "\n", "b" * 32 + "\n"
    found = identity(first)
    monkeypatch.setattr(machine, "_BOOT", tmp_path / "another boot")
    assert found == identity(first, cores=1) and re.fullmatch("[0-9a-f]{12}", found)
    others = [identity(second), identity(first, cpu="AMD EPYC 7763"), identity(first, gpu=["NVIDIA H200"]), identity()]
    assert len({found, *others}) == 5
    monkeypatch.setattr(machine.os, "cpu_count", lambda: 1000)
    assert identity(first) != found


@pytest.mark.parametrize("text", [None, "", "uninitialized\n"])
def test_without_a_machine_id_it_is_the_hosts_name_and_address(identity, monkeypatch, text):
    monkeypatch.setattr(machine.uuid, "getnode", lambda: 0x02_00_00_00_00_01)
    monkeypatch.setattr(machine.socket, "gethostname", lambda: "one")
    found = identity(text)
    monkeypatch.setattr(machine.uuid, "getnode", lambda: 0x02_00_00_00_00_02)
    assert identity(text) != found
    addresses = iter((0x01_00_00_00_00_01, 0x01_00_00_00_00_02))  # made up, another in each process
    monkeypatch.setattr(machine.uuid, "getnode", lambda: next(addresses))
    assert identity(text) == identity(text)
    monkeypatch.setattr(machine.socket, "gethostname", lambda: "two")
    monkeypatch.setattr(machine.uuid, "getnode", lambda: 0x02_00_00_00_00_01)
    assert identity(text) != found
