"""OpenCL drivers that the loader is told of."""

import os
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest

from kernels.device import opencl, vendors

ASK = "from kernels.device.opencl import open_device; print(open_device('CPU').details['platform'])"


@pytest.fixture
def machine(monkeypatch, tmp_path):
    """A machine with one driver, and the wheel's; returns the folder of its drivers and the wheel's path."""
    driver, machines = tmp_path / "lib" / vendors.DRIVER, tmp_path / "vendors"
    for folder in (driver.parent, machines):
        folder.mkdir()
    driver.touch()
    (machines / "gpu.icd").write_text("libgpu.so.1\n")
    file = metadata.PackagePath("lib", vendors.DRIVER)
    file.dist = metadata.PathDistribution(tmp_path / "x.dist-info")
    other = metadata.PackagePath("lib", "other.so")
    other.dist = file.dist
    monkeypatch.setattr(metadata, "files", lambda name: [other, file])
    monkeypatch.setattr(vendors, "MACHINES", machines)
    for name in vendors.CHOSEN:
        monkeypatch.delenv(name, raising=False)
    return machines, driver


def listed():
    """Return what each file that the loader would read says, by the files' names; None where it has its own folder."""
    with vendors.named():
        folder = os.environ.get("OCL_ICD_VENDORS")
        found = folder and {path.name: path.read_text().strip() for path in Path(folder).glob("*.icd")}
    assert "OCL_ICD_VENDORS" not in os.environ or os.environ["OCL_ICD_VENDORS"] == folder
    return found


def test_the_wheels_driver_stands_beside_the_machines(machine):
    _, driver = machine
    assert listed() == {"gpu.icd": "libgpu.so.1", "wheel.icd": str(driver)}
    assert "OCL_ICD_VENDORS" not in os.environ


def test_without_the_wheel_the_loader_looks_where_it_does(machine, monkeypatch):
    def files(name):
        raise metadata.PackageNotFoundError(name)

    machine[1].unlink()
    assert listed() is None
    monkeypatch.setattr(metadata, "files", files)
    assert listed() is None


def test_a_machine_with_intels_own_driver_does_not_get_a_second(machine):
    (machine[0] / "intel.icd").write_text(f"/opt/intel/{vendors.DRIVER}\n")
    assert listed() is None


@pytest.mark.parametrize("name", vendors.CHOSEN)
def test_where_a_user_says_that_drivers_are_goes_before(machine, monkeypatch, name):
    monkeypatch.setenv(name, str(machine[0]))
    assert "wheel.icd" not in (listed() or {})


def test_the_driver_of_the_wheel_opens_with_nothing_set():
    if vendors.of_wheel() is None:
        pytest.skip("Intel's driver is not installed by pip")
    pytest.importorskip("pyopencl")
    environment = {name: value for name, value in os.environ.items() if name not in vendors.CHOSEN}
    done = subprocess.run([sys.executable, "-c", ASK], env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert not done.stderr
    assert "Intel" in done.stdout


def test_numba_keeps_its_threads_where_the_driver_brings_others(machine, monkeypatch):
    numba = pytest.importorskip("numba")
    monkeypatch.delenv("NUMBA_THREADING_LAYER_PRIORITY", raising=False)
    listed()
    assert numba.config.THREADING_LAYER_PRIORITY[0] == "omp"
    monkeypatch.setenv("NUMBA_THREADING_LAYER_PRIORITY", "workqueue omp tbb")
    listed()
    assert numba.config.THREADING_LAYER_PRIORITY[0] == "workqueue"


def test_the_remedy_names_what_brings_a_driver():
    assert "EXTRAS=opencl-cpu" in opencl.REMEDY and vendors.WHEEL in opencl.REMEDY
