"""Nights under SIGKILL: worker, code server, daemon, webserver and all at once die at random times; the next
tick goes on by itself.

    python -m pytest tests/attacks/test_nights.py -m attack -s

A night falls every ten seconds; `ServedSite.revive` plays the supervisor of a server. Short form:
tests/e2e/test_postgres_deployment.py.
"""

import random
import time
from collections import Counter

import pytest
from toy_location.served import NIGHT_S, assert_nothing_lost_or_doubled, served_site

ROUNDS, PATIENCE_S = 50, 600.0
KILLED = (
    ("worker",),
    ("code",),
    ("code", "worker"),
    ("daemon",),
    ("webserver",),
    ("code", "daemon", "webserver", "worker"),
)


@pytest.mark.attack
@pytest.mark.e2e
def test_the_next_tick_goes_on_by_itself_whatever_was_killed_and_nothing_is_lost_or_doubled(tmp_path):
    drawn, counted = random.Random(14), Counter()
    with served_site(tmp_path / "site") as site:
        site.goes_on(PATIENCE_S)
        for number in range(ROUNDS):
            names = KILLED[number % len(KILLED)]
            time.sleep(drawn.uniform(0, 2 * NIGHT_S))
            when = "a run at work" if site.workers() else "between cycles"
            began = time.monotonic()
            site.kill(names)
            site.revive()
            site.goes_on(PATIENCE_S)
            counted["+".join(names), when] += 1
            print(f"round {number + 1}: {'+'.join(names)}, {when}; on after {time.monotonic() - began:.0f} s")
        site.wait("the UI to answer", site.answers, PATIENCE_S)
        assert_nothing_lost_or_doubled(site)
        print(f"{sum(counted.values())} kills, {site.sealed() - 1} cycles sealed, none lost or doubled")
    for (names, when), count in sorted(counted.items()):
        print(f"{names:<32} {when:<16} {count}")
