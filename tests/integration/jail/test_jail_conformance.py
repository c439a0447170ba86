"""Every backend against the conformance kit, as far as it claims to hold; and the kit against a jail that
does not hold."""

import dataclasses

import pytest
from jail_kit import NATIVE_GUARANTEES, witness
from jail_kit.direct_attacks import DIRECT_ATTACKS, run_directly
from jail_kit.forked import FORKED_ATTACKS, FORKED_COUNTERS, ForkedCalls
from jail_kit.memory_attacks import MEMORY_ATTACKS, look, told_apart
from jail_kit.native_attacks import NATIVE_ATTACKS
from jail_kit.python_attacks import COUNTER_ATTACKS, PYTHON_ATTACKS
from jail_kit.shared_attacks import REFUSED, SHARED_ATTACKS

from evolake.jail import JAIL_MODES, groups, open_pool
from evolake.jail.backends import BACKENDS

PYTHON_CASES = [
    (mode, attack)
    for mode in JAIL_MODES
    for attack in (*PYTHON_ATTACKS, *COUNTER_ATTACKS)
    if attack.guarantee in BACKENDS[mode].python_guarantees
]
NATIVE_CASES = [
    (mode, attack)
    for mode in JAIL_MODES
    for attack in NATIVE_ATTACKS
    if attack.guarantee in NATIVE_GUARANTEES[mode]
    and (BACKENDS[mode].counts_processes or not attack.limits.processes)
]
FORKED_CASES = [(processes, attack) for processes in (0, 4) for attack in (*FORKED_ATTACKS, *FORKED_COUNTERS)]
DIRECT_CASES = [
    (mode, attack)
    for mode in JAIL_MODES
    for attack in DIRECT_ATTACKS
    if attack.guarantee in NATIVE_GUARANTEES[mode]
]


def named(case):
    return f"{case[0]}-{case[1].name}".replace(" ", "_")


@pytest.fixture(scope="module")
def host(tmp_path_factory):
    with witness(tmp_path_factory.mktemp("witness")) as opened:
        yield opened


@pytest.fixture(scope="module")
def pools(host):
    opened = {mode: open_pool(workers=1, preload=("numpy",), mode=mode) for mode in JAIL_MODES}
    yield opened
    for pool in opened.values():
        pool.close()


@pytest.mark.parametrize("case", PYTHON_CASES, ids=named)
def test_python_attack_is_contained(case, pools, host):
    mode, attack = case
    assert attack.violations(pools[mode], host) == []


@pytest.mark.parametrize("case", FORKED_CASES, ids=named)
def test_attack_by_a_forked_program_is_contained(case, pools, host):
    processes, attack = case
    assert attack.violations(ForkedCalls(pools["bubblewrap"], processes), host) == []


@pytest.fixture(scope="module")
def untouched():
    """Two kinds of calls of a small jail, each with the memory of a candidate."""
    with open_pool(workers=1, preload=(), mode="bubblewrap") as pool:
        yield [(kind, look(kind)) for kind in (pool, ForkedCalls(pool, 0))]


@pytest.mark.parametrize("attack", MEMORY_ATTACKS, ids=lambda attack: attack.name.replace(" ", "_"))
def test_nothing_of_a_candidate_is_in_the_memory_of_the_next(attack, untouched, host):
    pool, before = untouched[0]
    assert attack.violations(pool, host, before) == []


@pytest.mark.parametrize("place", [0, 1], ids=["called", "forked"])
def test_the_memory_of_a_candidate_is_the_same_whatever_was_before(place, untouched):
    assert told_apart(untouched[place][0]) == []


@pytest.mark.parametrize("case", NATIVE_CASES, ids=named)
def test_native_attack_is_contained(case, host):
    mode, attack = case
    assert attack.violations(mode, host) == []


@pytest.mark.parametrize("case", DIRECT_CASES, ids=named)
def test_native_attack_on_a_direct_run_is_contained(case, host):
    mode, attack = case
    assert attack.violations(mode, host, run_directly) == []


@pytest.mark.parametrize("attack", SHARED_ATTACKS, ids=lambda attack: attack.name.replace(" ", "_"))
def test_attack_by_shared_memory_or_a_pair_of_sockets_is_contained(attack, host):
    assert attack.violations("bubblewrap", host) == []


def test_the_watch_alone_counts_dev_shm(host, monkeypatch):
    monkeypatch.setattr(groups, "_place", lambda: "no control groups")
    attack = next(
        attack
        for attack in SHARED_ATTACKS
        if attack.name == "hide memory half in /dev/shm and half in processes"
    )
    assert attack.violations("bubblewrap", host) == []


def test_the_kit_notices_what_is_allowed_and_not_counted(host):
    allowed = dataclasses.replace(SHARED_ATTACKS[0], source=REFUSED + "refused(socket.socketpair)")
    assert "was allowed" in allowed.violations("bubblewrap", host)[0]
    hidden = next(
        attack
        for attack in SHARED_ATTACKS
        if attack.name == "hide memory half in /dev/shm and half in processes"
    )
    roomy = dataclasses.replace(hidden, limits=dataclasses.replace(hidden.limits, total_mb=256))
    assert roomy.violations("bubblewrap", host) == ["status ok (), wanted memory"]


def test_the_kit_notices_direct_runs_that_do_not_hold(host):
    """As below: the weaker mode does not claim that secrets are out of reach."""
    attack = next(attack for attack in DIRECT_ATTACKS if attack.name == "read a secret")
    assert attack.violations("rlimits", host, run_directly) != []


@pytest.mark.parametrize("name", ["read a secret", "see the host's processes"])
def test_the_kit_notices_a_jail_that_does_not_hold(name, pools, host):
    """The rlimits backend does not claim these guarantees, so it stands in for a bubblewrap that leaks."""
    attack = next(attack for attack in PYTHON_ATTACKS if attack.name == name)
    assert attack.violations(pools["rlimits"], host) != []


@pytest.mark.parametrize("name", ["its process number", "the number of a new thread", "/proc/stat"])
def test_the_kit_notices_a_counter_that_candidates_share(name, pools, host):
    attack = next(attack for attack in COUNTER_ATTACKS if attack.name == name)
    assert attack.violations(pools["rlimits"], host) != []


def test_the_canary_refuses_a_jail_that_claims_more_than_it_holds(monkeypatch):
    from evolake.errors import JailUnavailable

    weaker = BACKENDS["rlimits"]
    monkeypatch.setattr(type(weaker), "python_guarantees", BACKENDS["bubblewrap"].python_guarantees)
    with pytest.raises(JailUnavailable, match="it could read a secret of the host"):
        open_pool(workers=1, preload=(), mode="rlimits")


def test_every_guarantee_is_attacked():
    attacked = {attack.guarantee for attack in (*PYTHON_ATTACKS, *COUNTER_ATTACKS, *NATIVE_ATTACKS)}
    assert attacked == BACKENDS["bubblewrap"].python_guarantees
    assert len({attack.name for attack in PYTHON_ATTACKS}) == len(PYTHON_ATTACKS) >= 15
    assert all(dataclasses.is_dataclass(attack) for attack in NATIVE_ATTACKS)
