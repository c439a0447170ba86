"""Adapters are data: the six shipped ones load, and a wrong one is told by its field."""

import pytest
from solver_fixtures import ADAPTER, toy_adapter

from evolake.errors import InputError
from evolake.solvers.measurement.measuring import SPELLINGS
from evolake.solvers.repository.adapters import known_adapters, load_adapter

SHIPPED = ["cadical195", "glucose421", "kissat", "maplechrono", "mergesat3", "minisat22"]


def test_six_families_are_shipped():
    assert known_adapters() == SHIPPED
    assert [load_adapter(name).name for name in SHIPPED] == SHIPPED


@pytest.mark.parametrize("name", SHIPPED)
def test_every_shipped_family_writes_proofs_and_prints_counters(name):
    adapter = load_adapter(name)
    assert adapter.proof != "none" and adapter.proof_argv is not None
    assert {"conflicts", "decisions", "propagations", "restarts"} == set(adapter.statistics)
    assert "src/LICENSE" in adapter.licences


def test_an_unknown_adapter_is_told_with_the_known_ones():
    with pytest.raises(InputError, match="minisat22"):
        load_adapter("nosuch")
    with pytest.raises(InputError):
        load_adapter("../toy")


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('name = "toy"', "name = 3", "name is missing"),
        ('name = "toy"', 'nome = "toy"', "unknown field nome"),
        ('program = "bin/toy"', 'program = "../toy"', "build.program"),
        ('program = "bin/toy"', 'program = "bin/starexec_run_default"', "build.program"),
        ('argv = ["toy", "{cnf}"]', 'argv = ["sh", "{cnf}"]', "run.argv"),
        ('argv = ["toy", "{cnf}"]', 'argv = ["toy"]', "run.argv"),
        ('"-proof={proof}", ', "", "run.proof_argv"),
        ('proof = "drat-text"', 'proof = "lrat"', "run.proof"),
        ('proof = "drat-text"', "", "go together"),
        ('from = "code"', 'fro = "code"', "layout.fro"),
        ("(\\d+)", "(", "statistics.conflicts"),
        ("(\\d+)", "7", "no group"),
        ('CXXFLAGS = "-Wall', '"C;X" = "-Wall', "build.environment"),
        ("commands = [[", "commands = 3 #", "build.commands"),
        ('keep = ["LICENSE"]', 'keep = ["LICENSE"]\npatch = "nosuch.diff"', "layout.patch"),
    ],
)
def test_a_wrong_field_is_named(old, new, said):
    assert old in ADAPTER
    with pytest.raises(InputError) as raised:
        toy_adapter(ADAPTER.replace(old, new, 1))
    assert said in str(raised.value)


@pytest.mark.parametrize("proof", ["drat-binary", "lrat-text", "lrat-binary"])
def test_every_format_of_proofs_that_is_read_may_be_declared(proof):
    assert (
        toy_adapter(ADAPTER.replace('proof = "drat-text"', f'proof = "{proof}"')).proof
        == proof
        == SPELLINGS[proof]
    )
