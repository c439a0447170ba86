"""A base of a few lines that builds in a second, and what its variants are judged by: a real build."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evolake.agents import Agents
from evolake.lake.blobs import BlobStore
from evolake.seeds import CycleSeeds
from evolake.solvers.edits import Edit, apply_edits
from evolake.solvers.evolution.coder_turn import CoderTurn
from evolake.solvers.evolution.drafts import ExistingVariants, Judge, Proposals
from evolake.solvers.evolution.planning import Base, KnownVariant, parent_pool
from evolake.solvers.evolution.proposing import propose_variants
from evolake.solvers.repository.adapters import Adapter, Layout
from evolake.solvers.repository.build import BuildResult, build_variant
from evolake.solvers.repository.variant import apply_diff, create_variant, source_sha
from evolake.solvers.roles.shown import ShownRules
from evolake.solvers.settings import SolversSettings

SMALL_CNF = "p cnf 2 2\n1 2 0\n-1 2 0\n"
SETTINGS = SolversSettings(repair_attempts=2, variants_per_cycle=3)
SOURCE = """\
#include "core/Solver.h"
static DoubleOption opt_var_decay("CORE", "var-decay", "The decay of scores", 0.95, DoubleRange(0, false, 1, false));
static IntOption opt_first("CORE", "rfirst", "The first interval", 100, IntRange(1, INT32_MAX));
static BoolOption opt_luby("CORE", "luby", "Luby", true);

int budget() {
    return opt_first.value * 2;
}

int main() {
    return budget() > 0 && opt_var_decay.value > 0 && opt_luby.value ? 10 : 10;
}
"""  # noqa: E501
HEADER = """\
#include <stdint.h>
struct DoubleRange { DoubleRange(double, bool, double, bool) {} };
struct IntRange { IntRange(int, int) {} };
struct DoubleOption { double value; DoubleOption(const char*, const char*, const char*, double v, DoubleRange) : value(v) {} };
struct IntOption { int value; IntOption(const char*, const char*, const char*, int v, IntRange) : value(v) {} };
struct BoolOption { bool value; BoolOption(const char*, const char*, const char*, bool v) : value(v) {} };
"""  # noqa: E501
GOOD = """\
--- a/src/core/Solver.cc
+++ b/src/core/Solver.cc
@@ -6,3 +6,3 @@
 int budget() {
-    return opt_first.value * 2;
+    return opt_first.value * 3;
 }
"""
UNBUILDABLE = GOOD.replace("* 3;", "* undeclared_name;")
STRAY = GOOD.replace("int budget() {", "int badget() {")


@dataclass(frozen=True)
class Built:
    """What the gate says: a real build."""

    variant_id: str
    build: BuildResult

    @property
    def blocked_by(self) -> BuildResult | None:
        return None if self.build.ok else self.build

    @property
    def feedback(self) -> str:
        return "" if self.build.ok else f"Blocked at gate 1 (build): {self.build.reason}"

    @property
    def output(self) -> str:
        return ""


@dataclass(frozen=True)
class SmallProject:
    """A base of a few lines, and what its variants are judged by."""

    base: Base
    seed: KnownVariant
    blobs: BlobStore
    into: Path

    def judge(self, folder: Path) -> Built:
        return Built(source_sha(folder), build_variant(folder, self.base.adapter, self.blobs))

    def propose(
        self,
        agents: Agents,
        plans: list[dict[str, Any]],
        known: list[KnownVariant] | None = None,
        bases: dict[str, Base] | None = None,
        knowledge: Sequence[str] = (),
        existing: Sequence[str] = (),
        judge: Judge | None = None,
        **more: Any,
    ) -> Proposals:
        pool = parent_pool(
            known or [self.seed],
            bases or {self.base.name: self.base},
            ranking=[],
            metrics=[],
            settings=SETTINGS,
            cycle="0001",
        )
        turn = CoderTurn(
            agents,
            judge or self.judge,
            self.into,
            SETTINGS,
            CycleSeeds(5, "solvers", "0001"),
            ShownRules(["no threads"], knowledge),
            **more,
        )
        return propose_variants(turn, plans, pool, ExistingVariants(set(existing)))

    def child(self, name: str, *edits: Edit) -> KnownVariant:
        """A variant by edits, on disk."""
        folder = self.into.parent / name
        create_variant(self.into.parent / "tree", self.base.adapter, folder)
        assert all(outcome.applied for outcome in apply_edits(folder, self.base.adapter, edits))
        return KnownVariant(source_sha(folder), self.base.name, name, "tunable", folder, edits)

    def written(self, name: str, diff: str) -> KnownVariant:
        """A variant by a diff, on disk."""
        folder = self.into.parent / name
        create_variant(self.into.parent / "tree", self.base.adapter, folder)
        assert apply_diff(folder, diff, editable=self.base.adapter.editable).applied
        return KnownVariant(source_sha(folder), self.base.name, name, "rewrite", folder, None)


def small_project(tmp_path: Path) -> SmallProject:
    """A project below an empty folder."""
    tree = tmp_path / "tree"
    (tree / "core").mkdir(parents=True)
    (tree / "core/Solver.cc").write_text(SOURCE)
    (tree / "core/Solver.h").write_text(HEADER)
    (tree / "LICENSE").write_text("MIT\n")
    adapter = Adapter(
        name="small1",
        build=(("mkdir", "-p", "build"), ("g++", "-Isrc", "-o", "bin/small", "src/core/Solver.cc")),
        program="bin/small",
        argv=("small", "{cnf}"),
        proof_argv=None,
        proof="none",
        environment={},
        statistics={},
        exit_codes={"sat": 10, "unsat": 20},
        licences=("src/LICENSE",),
        editable=("src/core/*.cc", "src/core/*.h"),
        tunables="minisat-options",
        layout=Layout(),
    )
    folder = tmp_path / "seed"
    create_variant(tree, adapter, folder)
    (tmp_path / "made").mkdir()
    seed = KnownVariant(source_sha(folder), "small", "small", "seed", folder, ())
    return SmallProject(
        Base("small", folder, adapter), seed, BlobStore(tmp_path / "blobs"), tmp_path / "made"
    )


def planned(
    parents: list[KnownVariant], kind: str = "tunable", target: str = "tunable:var-decay", number: int = 0
) -> dict[str, Any]:
    return {
        "plan_id": f"plan{number}",
        "number": number,
        "parent_ids": [item.variant_id for item in parents],
        "kind": kind,
        "target": target,
        "hypothesis": "A stronger decay follows the newest conflicts.",
        "instructions": "Lower the decay.",
    }
