"""Patched programs of the seeds, judged by real runs and proofs unless a stored verdict is still valid.

`solver_patches.json` stores verdicts. The key of a verdict is a hash over all that makes the program and
what it is asked: the sources of the seed and of the patch, the compiler and its flags, how the program is
started and read, and the formulas. A patch without a stored verdict of this key is built and judged. The
patches of SAMPLE are built and judged in every run, which tries the code that builds, runs and judges; all
of them if EVOLAKE_ALL_PATCHES=1 is set and in tests/attacks/test_all_patches.py. Store the verdicts of what
is judged with

    EVOLAKE_KEEP_PATCHES=1 python -m pytest tests/integration/solvers -k edits_patches
"""

import hashlib
import json
import os
import subprocess
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
from filelock import FileLock
from solver_patch_builds import Patching, apply_patches
from solver_seed_builds import seed_folder

from evolake.reading.formula import falsified_clauses, read_cnf_file
from evolake.solvers.edits import PATCHES
from evolake.solvers.execute import Program, RunLimits, SolverRun, run_solver
from evolake.solvers.proof.checking import check_proof
from evolake.solvers.repository.adapters import Adapter, load_adapter
from evolake.solvers.repository.build import compiler
from evolake.solvers.repository.object_store import store_of
from evolake.solvers.repository.seeds_file import Seed
from evolake.solvers.repository.variant import source_sha

KEPT = Path(__file__).with_suffix(".json")
KISSAT = os.environ.get("EVOLAKE_KISSAT", "")
BASES = (
    "minisat22",
    "glucose421",
    "maplechrono",
    "mergesat3",
    "cadical195",
    *(("kissat",) if KISSAT else ()),
)
FORMS = [
    (base, spec.name)
    for base in BASES
    for spec in PATCHES.values()
    if base.rstrip("0123456789") in spec.forms
]
SAMPLE = {"minisat22": ("restart-geometric", "vsids-ramp"), "glucose421": ("phase-rephase",)}
"""Base -> patches that are built and judged in every run, whatever is known of them."""
LATER = {"cadical-chrono-relative", "kissat-chrono-relative"}
"""Patches that decide on deeper trails than such small formulas have."""
LAST = "more-holes"
"""A long search, for patches that change none of the shorter ones."""
LARGER = {"mergesat3": "larger", "kissat": "larger"}
"""A search of middle length that comes before it: the second mode of MergeSat begins after ten thousand
conflicts, the fourth focused phase of Kissat later."""
SHORT = {"maplechrono": "short"}
"""The formula whose proof is checked and that is searched first, in place of `unsat`, whose search and
proof are several times as long for this base."""
LIMITS = RunLimits(cpu_s=60, wall_s=300)


@dataclass(frozen=True)
class Verdict:
    """Conflicts of a patched program and of its base, by formula. Every answer was right, with its proof or
    model checked."""

    conflicts: Mapping[str, float]
    before: Mapping[str, float]

    @property
    def differs(self) -> bool:
        """Return whether the patch changed any search."""
        return self.conflicts != self.before


@dataclass
class Bench:
    """One base, its patches and their verdicts. folder: for programs. rebuild: judge all patches again."""

    base: str
    adapter: Adapter
    seed: Path
    patching: Patching
    formulas: Mapping[str, Path]
    folder: Path
    rebuild: bool = False
    judged: dict[str, Verdict] = field(default_factory=dict)
    searched: dict[str, float] = field(default_factory=dict)
    _built: tuple[dict[str, Path], str] | None = field(default=None, init=False)

    @property
    def outcomes(self) -> Mapping[str, Any]:
        """Return what came of applying each patch."""
        return self.patching.outcomes

    def key(self, patch: str, identity: str | None = None) -> str:
        """Return the hash of all that decides the verdict on a patch. identity: of the compiler; default:
        this machine's."""
        sources = {path: _sha(text) for path, text in self.patching.files.items() if path.startswith("src/")}
        changed = {path: _sha(text) for path, text in self.patching.changed.get(patch, {}).items()}
        adapter = self.adapter
        runs = [
            adapter.argv,
            adapter.proof_argv,
            adapter.proof,
            dict(adapter.statistics),
            dict(adapter.exit_codes),
        ]
        rules = [self.patching.rules(""), self.patching.rules(patch)]
        formulas = {name: _sha(path.read_text()) for name, path in sorted(self.formulas.items())}
        decides = [sources, changed, rules, runs, identity or compilers(), formulas]
        return _sha(json.dumps(decides, sort_keys=True))[:32]

    def known(self, patch: str) -> Verdict | None:
        """Return the kept verdict on a patch if nothing that decides it has changed."""
        entry = kept().get(self.base, {}).get(patch)
        return (
            Verdict(entry["conflicts"], entry["before"])
            if entry is not None and entry["key"] == self.key(patch)
            else None
        )

    def wants(self, patch: str) -> bool:
        """Return whether a patch has to be built: it is not known, or it is one of the sample."""
        return self.rebuild or patch in SAMPLE.get(self.base, ()) or self.known(patch) is None

    def wanted(self) -> list[str]:
        """Return the patches that have to be built."""
        return [patch for patch in self.patching.changed if self.wants(patch)]

    def verdict(self, patch: str, scratch: Path) -> Verdict:
        """Return what is known of a patch, or judge it."""
        if not self.wants(patch) and (known := self.known(patch)):
            return known
        self.judged[patch] = self.judge(patch, scratch)
        return self.judged[patch]

    def judge(self, patch: str, scratch: Path) -> Verdict:
        """Run the patched program. Every answer must be right, with a model or a proof that verifies.

        Longer formulas follow until the search of one differs from the base's.
        """
        assert patch in self.programs[0], self.programs[1][-3000:]
        conflicts, before = {}, {}
        always = ("sat", proven := SHORT.get(self.base, "unsat"), "holes")
        for name in (
            *always,
            *({"unsat"} - {proven}),
            *({LARGER[self.base]} if self.base in LARGER else ()),
            LAST,
        ):
            cnf = self.formulas[name]
            if name not in always and conflicts != before:
                break
            run = self.run(patch, cnf, scratch / name)
            assert (run.status, run.problems) == ("sat" if name == "sat" else "unsat", ()), (
                name,
                run.status,
                run.problems,
            )
            if run.status == "sat":
                assert run.model is not None and len(falsified_clauses(read_cnf_file(cnf), run.model)) == 0, (
                    "its model does not satisfy the formula"
                )
            elif name == proven:
                assert run.proof is not None
                checked = check_proof(cnf, run.proof)
                assert checked.verdict == "verified", checked
            conflicts[name], before[name] = run.counters["conflicts"], self.conflicts(cnf, scratch / "base")
        return Verdict(conflicts, before)

    def conflicts(self, cnf: Path, scratch: Path) -> float:
        """Return the conflicts of the unpatched program on one formula, which is run once."""
        if cnf.name not in self.searched:
            self.searched[cnf.name] = self.run("", cnf, scratch).counters["conflicts"]
        return self.searched[cnf.name]

    @property
    def programs(self) -> tuple[dict[str, Path], str]:
        """Return the programs of the base and of the wanted patches, built once, and what the compiler
        said."""
        if self._built is None:
            self._built = self.patching.build(
                self.wanted(), self.folder, kept_objects(self.seed, self.adapter)
            )
        return self._built

    def program(self, patch: str) -> Program:
        """Return a program, ready to be run."""
        adapter = self.adapter
        return Program(
            self.programs[0][patch].parent,
            adapter.argv,
            adapter.proof_argv,
            adapter.proof,
            {},
            adapter.statistics,
            adapter.exit_codes,
        )

    def run(self, patch: str, cnf: Path, scratch: Path) -> SolverRun:
        """Run a program with a proof."""
        return run_solver(self.program(patch), cnf, LIMITS, scratch=scratch, want_proof=True)


@contextmanager
def open_benches(folder: Path, *, rebuild: bool = False) -> Iterator[Callable[[str], Bench]]:
    """Give base -> bench, opened once; store its verdicts at the end if EVOLAKE_KEEP_PATCHES is 1."""
    formulas, opened = write_formulas(folder), {}

    def bench(base: str) -> Bench:
        if base not in opened:
            adapter, seed = load_adapter(base), seed_of(base)
            # Kissat's patches have a second test that runs their programs
            anew = rebuild or base == "kissat" or os.environ.get("EVOLAKE_ALL_PATCHES") == "1"
            opened[base] = Bench(
                base, adapter, seed, apply_patches(seed, adapter), formulas, folder / base, anew
            )
        return opened[base]

    yield bench
    if os.environ.get("EVOLAKE_KEEP_PATCHES") == "1":
        for base, item in opened.items():
            if base != "kissat":
                keep(item)


def seed_of(base: str) -> Path:
    """Return the folder of a base that is laid out as a variant. All tests share it: copy it before a
    change."""
    given = Seed("kissat", "given", "kissat", "MIT", path=Path(KISSAT)) if base == "kissat" else None
    return seed_folder(base, given)


def kept() -> dict[str, dict[str, Any]]:
    """Return the kept verdicts: base -> patch -> key and conflicts."""
    return json.loads(KEPT.read_text()) if KEPT.is_file() else {}


def keep(bench: Bench) -> None:
    """Store the verdicts of what was judged of a base, and drop those of patches that no longer exist."""
    with FileLock(KEPT.with_suffix(".lock")):
        every = kept()
        old = every.get(bench.base, {})
        new = {patch: {"key": bench.key(patch)} | asdict(verdict) for patch, verdict in bench.judged.items()}
        every[bench.base] = {
            patch: (old | new)[patch] for patch in sorted((old | new).keys() & bench.patching.changed.keys())
        }
        KEPT.write_text(_written(every))
    KEPT.with_suffix(".lock").unlink(missing_ok=True)


def _written(every: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the file's text: a line for each patch, so that a change is read as one."""
    bases = []
    for base in sorted(every):
        lines = [
            f"    {json.dumps(patch)}: {json.dumps(entry, sort_keys=True)}"
            for patch, entry in every[base].items()
        ]
        bases.append(f"  {json.dumps(base)}: {{\n" + ",\n".join(lines) + "\n  }")
    return "{\n" + ",\n".join(bases) + "\n}\n"


@cache
def compilers() -> str:
    """Return what identifies the compilers of C++ and C, and make."""
    said = (
        subprocess.run(["gcc", "--version"], capture_output=True, text=True, check=False).stdout
        if KISSAT
        else ""
    )
    return "; ".join([compiler()[1], *said.splitlines()[:1]])


def kept_objects(folder: Path, adapter: Adapter) -> dict[str, bytes]:
    """Return the objects that a build of CaDiCaL's seed left in the user's store, by name, if there are any.

    CaDiCaL's patches change 6 of 79 units. Other seeds have no such objects.
    """
    if (
        adapter.name != "cadical195"
        or not (store := store_of(folder, adapter, compiler()[1]))
        or not (found := store.read(source_sha(folder)))
    ):
        return {}
    return {Path(item.out).stem: item.data for item in found.objects}


def write_formulas(folder: Path) -> dict[str, Path]:
    """Write one satisfiable and three unsatisfiable 3-SAT formulas near the threshold, and pigeons in
    holes."""
    clauses = {
        "sat": _random(200, 850, 3, planted=True),
        "unsat": _random(190, 870, 4),
        "short": _random(120, 552, 4),
        "larger": _random(210, 950, 4),
        "holes": _pigeons(7),
        LAST: _pigeons(8),
    }
    for name, rows in clauses.items():
        variables = max(abs(literal) for row in rows for literal in row)
        lines = [" ".join(map(str, [*row, 0])) for row in rows]
        (folder / f"{name}.cnf").write_text("\n".join([f"p cnf {variables} {len(rows)}", *lines, ""]))
    return {name: folder / f"{name}.cnf" for name in clauses}


def assert_patch_differs(bench: Bench, patch: str, folder: Path) -> None:
    """Check that a patch compiles, answers right with verified proofs, and changes the search."""
    assert bench.outcomes[patch].applied, bench.outcomes[patch]
    assert bench.verdict(patch, folder).differs or patch in LATER, "the patch changes nothing here"


def _random(variables: int, clauses: int, seed: int, *, planted: bool = False) -> list[list[int]]:
    """Random 3-SAT. `planted`: with a hidden model, and without the clauses that it falsifies."""
    random = np.random.default_rng(seed)
    model = random.choice([-1, 1], variables + 1)
    rows: list[list[int]] = []
    while len(rows) < clauses:
        row = [int(v + 1) * int(random.choice([-1, 1])) for v in random.choice(variables, 3, replace=False)]
        if not planted or any(literal * model[abs(literal)] > 0 for literal in row):
            rows.append(row)
    return rows


def _pigeons(holes: int) -> list[list[int]]:
    rows = [[p * holes + h + 1 for h in range(holes)] for p in range(holes + 1)]
    return rows + [
        [-(p * holes + h + 1), -(q * holes + h + 1)]
        for h in range(holes)
        for p in range(holes + 1)
        for q in range(p)
    ]


def _sha(text: str) -> str:
    return hashlib.sha256(text.encode("latin-1", "replace")).hexdigest()
