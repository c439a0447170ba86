"""A cycle of designs and of solvers and a repair study by two hosts, one worker killed on the way, against
the same on one machine.

    python -m pytest tests/attacks/test_lines_on_two_hosts.py -m attack

Families in tests/e2e/test_cycles_on_two_hosts.py. Times are no content: columns of times enter no content
hash, and where a table rests on times (benchmarks of solvers and what follows from them) only what comes
before it is compared.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest
from cluster_runs import on_hosts, run_on
from compute_cluster import Cluster
from designs_fixtures import Project
from designs_fixtures import open_project as open_designs
from solvers_fixtures import open_project as open_solvers
from solvers_fixtures import share_proofs
from two_hosts import Host, two_hosts

pytestmark = [pytest.mark.attack, pytest.mark.e2e]
SMALL_STUDY = ("--problems", "10", "--seeds", "1", "--perturbed", "2", "--transfer", "2")
PARTS = (
    "SELECT asset, cycle, content_sha FROM parts WHERE line = '{line}' AND state = 'current' AND asset "
    "NOT IN ({timed}) AND asset NOT LIKE '%__checks' ORDER BY ALL"
)
BEFORE_TIMES = {
    "variants": (
        "SELECT variant_id, title, hypothesis, archive_sha, diff_sha, edits FROM solvers.variants WHERE "
        "cycle = '0001' ORDER BY 1"
    ),
    "verdicts": """SELECT gate, artifact_id, rule_id, outcome, reason FROM verdicts WHERE cycle = '0001'
        AND gate IN ('compliance', 'build', 'smoke', 'correctness') ORDER BY ALL""",
}


@pytest.fixture(scope="module")
def hosts() -> Iterator[tuple[Host, Host]]:
    with two_hosts() as both:
        yield both


@pytest.fixture
def cluster(hosts, tmp_path) -> Iterator[Cluster]:
    (tmp_path / "dask").mkdir()
    with on_hosts(hosts, tmp_path / "dask") as started:
        yield started


def folders(tmp_path: Path) -> tuple[Path, Path]:
    for name in ("alone", "shared"):
        (tmp_path / name).mkdir()
    return tmp_path / "alone", tmp_path / "shared"


def parts(project: Project, line: str, *timed: str) -> list[list]:
    """asset, cycle, content hash of every part of a line but those of the tables `timed`."""
    result = project.sql(
        PARTS.format(line=line, timed=", ".join(f"'{name}'" for name in ("resources", "funnel", *timed)))
    )
    assert len(result) > 3
    return result


def test_designs(hosts, cluster, tmp_path):
    alone, shared = (open_designs(folder, EVOLAKE_WORKERS="2") for folder in folders(tmp_path))
    command = ("run", "--cycles", "1", "--lines", "designs")
    alone.run(*command)
    run_on(cluster, hosts[0], shared, [*command, "-v"], "0001")
    assert parts(shared, "designs", "survivors__evaluations") == parts(
        alone, "designs", "survivors__evaluations"
    )


def test_solvers(hosts, cluster, tmp_path):
    alone, shared = (open_solvers(folder) for folder in folders(tmp_path))
    command = ("run", "--cycles", "1", "--lines", "solvers")
    alone.run(*command)
    share_proofs(alone, shared)
    run_on(cluster, hosts[0], shared, [*command, "-v"], "0001")
    for what, statement in BEFORE_TIMES.items():
        assert shared.sql(statement) == alone.sql(statement), what
        assert alone.sql(statement), what


def test_repair(hosts, cluster, tmp_path):
    alone, shared = (open_designs(folder, EVOLAKE_WORKERS="2") for folder in folders(tmp_path))
    command = ("repair", "run", *SMALL_STUDY)
    alone.run(*command)
    run_on(cluster, hosts[0], shared, command, "")
    assert parts(shared, "repair") == parts(alone, "repair")
