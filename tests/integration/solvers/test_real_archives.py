"""The archive of Glucose as it was published becomes a solver by the few lines of TOML that a user would
write: by its CMakeLists.txt, and by its Makefile. It is the archive of the seed, with its pinned hash."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from solver_seed_builds import bring_seed

from evolake.lake import BlobStore
from evolake.solvers.execute import RunLimits
from evolake.solvers.formula import write_dimacs
from evolake.solvers.measurement.measuring import Job, run_all
from evolake.solvers.repository.adapters import load_adapter
from evolake.solvers.repository.build import build_variant, open_program
from evolake.solvers.repository.seeding import lay_out_seed, seed_named
from evolake.solvers.suites import Instance
from evolake.solvers.suites.principles import pigeonhole

ADAPTER = """
name = "mine"
licences = ["src/LICENSE"]
editable = ["src/*/*.cc"]

[build]
system = "{system}"
program = "bin/glucose"
{more}
[run]
argv = ["glucose", "-model", "{{cnf}}"]
proof_argv = ["glucose", "-model", "-certified", "-certified-output={{proof}}", "{{cnf}}"]
proof = "drat-text"

[statistics]
conflicts = '^c conflicts\\s*:\\s*(\\d+)'
"""
MORE = {
    "cmake": """
options = ["-DBUILD_SHARED_LIBS=OFF", "-DCMAKE_POLICY_VERSION_MINIMUM=3.5"]
target = "glucose-simp"
product = "build/glucose-simp"
environment = { LDFLAGS = "-s" }
""",
    "make": """
options = ["-C", "simp", "MROOT=..", "r"]
product = "build/simp/glucose_release"
environment = { CFLAGS = "-std=c++11", LFLAGS = "-s" }
""",
}


@pytest.mark.parametrize("system", list(MORE))
def test_glucose_as_it_was_published_is_built_and_its_answers_are_proved(
    tmp_path: Path, requires: Callable[[str], str], system: str
) -> None:
    requires("c++")
    if system == "cmake":
        requires("cmake")
    bring_seed("glucose421", tmp_path / "lake")
    blobs, adapters = BlobStore(tmp_path / "lake"), tmp_path / "adapters"
    adapters.mkdir()
    (adapters / "mine.toml").write_text(ADAPTER.format(system=system, more=MORE[system]))
    folder = lay_out_seed(
        replace(seed_named("glucose421"), name="mine", adapter="mine"),
        blobs,
        tmp_path / "cache",
        adapters=adapters,
    )
    adapter = load_adapter("mine", adapters)
    built = build_variant(folder, adapter, blobs)
    assert built.ok, blobs.get(built.log_sha).decode()
    assert (folder / "src/CMakeLists.txt").is_file() and (folder / "src/parallel/Main.cc").is_file(), (
        "nothing is left out of the archive"
    )
    doors = [(pigeon, hole) for pigeon in range(6) for hole in range(6)]
    formulas = {
        "sat": pigeonhole(6, 6, doors),
        "unsat": pigeonhole(6, 5, [pair for pair in doors if pair[1] < 5]),
    }
    jobs, program = [], open_program(built, adapter, blobs, tmp_path / "cache")
    for name, formula in formulas.items():
        path = tmp_path / f"{name}.cnf"
        path.write_bytes(write_dimacs(formula))
        instance = Instance(name, "principles", "unknown", blobs.put(path.read_bytes()), path=path, base=name)
        jobs.append(
            Job("mine", program, instance, "own", "0001", RunLimits(cpu_s=20, memory_mb=512), measured=False)
        )
    rows = run_all(jobs)
    assert [(row["status"], row["certificate"], row["proof_status"], row["solved"]) for row in rows] == [
        ("sat", "model", None, True),
        ("unsat", "proof", "verified", True),
    ]
    assert rows[1]["conflicts"] > 0 and rows[1]["proof_bytes"] > 0
