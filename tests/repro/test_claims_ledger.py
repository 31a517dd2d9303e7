"""An error in a ledger is one line that says where."""

import pytest

from repro.judge.claims import claims
from repro.model import ReproError
from tests.repro.claims_store import WHERE, claim, effect, stated


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (claim(), "has a predicate"),
        (claim(WHERE, stated(), head='unmeasured = "x"'), "has a predicate"),
        (claim('cited = "x"\nno_test = "y"'), "one reason of unmeasured, not_public, no_test, cited"),
        (claim(WHERE, stated(relation="nearly")), "is none of"),
        (claim(WHERE, stated(relation="between")), "two numbers"),
        (claim(WHERE, stated(more="than = 1")), "one number"),
        (claim(WHERE, stated(more="tolerence = 1")), "tolerence is not known"),
        (claim(WHERE, stated(), head='fitted = "fu2014/regular"'), "neither true nor a list of datasets"),
        (claim(WHERE, stated(more='scales = ["huge"]')), "no scale huge"),
        (claim(WHERE, stated(), says="{nothing}"), "no statement 'nothing'"),
        ('[[claim]]\nid = "it"', "'says' is missing"),
        (claim(WHERE, stated()) + "\n" + claim(WHERE, stated()), "given twice"),
        ("claim = [", "claims.toml"),
    ],
)
def test_a_ledger_that_is_wrong_is_one_line_with_its_file(store, text, words):
    store.write("claims.toml", text)
    with pytest.raises(ReproError, match=r"claims\.toml") as caught:
        claims("demo", store.root)
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ((WHERE, effect("cpu / fpga")), "fpga"),
        ((WHERE, effect("__import__('os')")), "bound to nothing"),
        ((WHERE, effect("cpu.real")), "not allowed"),
        ((WHERE, effect("cpu +")), "no formula"),
        (('[claim.where]\ncpu = "table1 slow"', effect("cpu")), "no selector"),
        (('[claim.where]\ncpu = "table1 slow solve @cloud"', effect("cpu")), "no selector"),
        ((WHERE, stated(published='"text nothing"')), "no number 'text nothing'"),
        ((WHERE, stated(published='"table2 slow speedup"')), "for a"),
        ((WHERE, stated(published='"text rate-a"')), "in GFLOP/s"),
    ],
)
def test_a_predicate_that_does_not_fit_says_whose_it_is(store, parts, words):
    store.times(a=(10.0, 1.0), b=(9.0, 1.0))
    with pytest.raises(ReproError, match=r"claim demo it, (effect|stated), on box") as caught:
        store.one(*parts)
    assert words in str(caught.value)


@pytest.mark.parametrize(("relation", "better"), [("about", "less"), ("at least", "more")])
def test_a_relation_that_says_which_side_is_better_takes_no_other_from_the_effect(store, relation, better):
    lesser = '[claim.effect]\nformula = "cpu / gpu"\nis = "at most"\nthan = 1'
    store.write("claims.toml", claim(WHERE, stated(relation=relation), lesser))
    assert claims("demo", store.root)[0].stated.better == better
