"""A worker starts for every proof, so what it loads is paid for by the thousand."""

import subprocess
import sys


def test_a_worker_loads_nothing_that_only_its_supervisor_needs():
    program = "import sys, evolake.solvers.proof.worker, evolake.solvers.proof.dratify; print(*sys.modules)"
    loaded = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    ).stdout.split()
    assert "evolake.solvers.proof.verdict" in loaded
    assert [
        name
        for name in loaded
        if name.startswith(("evolake.jail", "evolake.lake", "evolake.settings", "pydantic", "subprocess"))
    ] == []
