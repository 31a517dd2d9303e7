"""An installed package is reported with its version, and a missing one with its remedy."""

from importlib import metadata

import baselines


def test_installed_packages_have_their_versions():
    found = {survey.name: survey for survey in baselines.survey()}
    assert found.keys() == set(baselines.PACKAGES)
    for name, package in (("Numba loops", "numba"), ("SciPy sparse", "scipy")):
        assert found[name] == (name, True, f"{package} {metadata.version(package)}", "")


def test_a_missing_package_comes_with_its_remedy(monkeypatch):
    missing = (("no-such-package-1", "no-such-package-2"), "buy one")
    monkeypatch.setattr(baselines, "PACKAGES", {"Rival": missing, "Either": (("no-such-package-1", "numpy"), "x")})
    rival, either = baselines.survey()
    assert rival == ("Rival", False, "not installed", "buy one")
    assert either.available and either.detail.startswith("numpy ") and either.remedy == ""
