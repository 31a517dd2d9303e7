"""Methods that stand together can be told apart, by the colour-blind, too."""

import itertools

import numpy as np
import pytest

from repro import environment
from repro.show import looks, plots
from repro.show.looks import families

FAMILIES = families()


def test_words_are_of_methods_that_have_a_look():
    known = {name for family in families().values() for name in family}
    words = looks._table(environment.experiments_folder())["words"]
    assert words.keys() <= known and looks.word("amgcl") == words["amgcl"]


def test_a_name_that_no_family_has_looks_like_none_that_has_one():
    known = {colour for family in FAMILIES.values() for colour, _ in family.values()}
    own = {plots.colour(f"a format of my own {k}") for k in range(40)} | {plots.colour("mine")}
    assert len(own) == 6
    for one, other in [*itertools.product(own, known), *itertools.combinations(own, 2)]:
        assert np.linalg.norm(seen(one, np.eye(3)) - seen(other, np.eye(3))) > 0.3, (one, other)


SAME = {  # a paper's and its stand-in, a library and its one format, two spellings
    ("cusp-pcgamg", "jacobi-pcgamg"), ("cg", "cusp-cg"), ("csr", "csr_vector"), ("ell", "ellpack"), ("bell", "bsr"),
    ("cusparse", "cusparse_csr"), ("numba", "numba_csr"), ("scipy", "scipy_csr"), ("Q1", "q1"), ("Q2", "q2"),
}  # fmt: skip


def test_what_stands_together_can_be_told_apart():
    looks = {}
    for family in FAMILIES.values():
        assert all(looks.setdefault(name, look) == look for name, look in family.items())
    for family in FAMILIES.values():
        for one, other in itertools.combinations(sorted(family), 2):
            if (one, other) not in SAME:
                assert family[one] != family[other], (one, other)
                # Bars have no marker: there the colour tells.
                assert family[one][0] != family[other][0], (one, other)


def seen(colour, matrix):
    """Return a colour as who lacks a kind of cone sees it, by Machado, Oliveira and Fernandes (2009)."""
    rgb = np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    seen = np.clip(matrix @ linear, 0, 1)
    return np.where(seen <= 0.0031308, 12.92 * seen, 1.055 * seen ** (1 / 2.4) - 0.055)


BLIND = {
    "protanopia": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
    "deuteranopia": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.011820, 0.042940, 0.968881]],
}


@pytest.mark.parametrize("kind", BLIND)
@pytest.mark.parametrize("family", [name for name, looks in FAMILIES.items() if len(looks) <= 6])
def test_the_colour_blind_can_tell_what_stands_together(family, kind):
    colours = sorted({colour for colour, _ in FAMILIES[family].values()})
    for one, other in itertools.combinations(colours, 2):
        difference = np.linalg.norm(seen(one, np.array(BLIND[kind])) - seen(other, np.array(BLIND[kind])))
        assert difference > 0.12, (one, other)
