"""What showing something is worth: the planner's and the coder's turn on one population, shown all and shown
less, judged by the same gates.

An arm is shown everything, or everything but what is left out; nothing else differs. `rules` leaves out the
rules in words, the guidance rules (domain knowledge) and the learned rules that operators heed; `knowledge`
the guidance rules alone. The gates know no arm: they judge all variants by all rules. Each repeat draws
again, operators by another seed, a model by a further reply. What is counted is how many plans come through
every gate, and how; gains are not measured. Source: SATLUTION (seed document 000), "Rule System".
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from evolake.agents import open_agents
from evolake.errors import InputError
from evolake.gates import Ruleset, load_rules
from evolake.journal import append, read_journal
from evolake.lake import Lake
from evolake.scratch import Scratch
from evolake.seeds import CycleSeeds, child_seed
from evolake.settings import Settings
from evolake.solvers.evolution.coder_turn import CoderTurn
from evolake.solvers.evolution.coding import check_coder, coding
from evolake.solvers.evolution.planning import LINE
from evolake.solvers.evolution.population import Population, population_of
from evolake.solvers.evolution.variant_making import make_variants, plan_cycle
from evolake.solvers.evolution.workspace import Workspace, judge_folder
from evolake.solvers.repository.seeding import seed_trees
from evolake.solvers.roles.shown import shown_rules
from evolake.solvers.rules.learned import with_learned
from evolake.solvers.settings import SolversSettings
from evolake.solvers.tables import ARCHIVE
from evolake.stats import Interval
from evolake.stats.proportions import wilson_interval

ALL = "all"
LEFT_OUT: Mapping[str, Callable[[Ruleset], Ruleset]] = {
    "rules": lambda ruleset: replace(ruleset, rules=(), guidance=()),
    "knowledge": lambda ruleset: replace(ruleset, guidance=()),
}
JOURNAL, QUESTION = "journal.jsonl", "question"
DRAWS = 50
"""Attempts that a role may take within a repeat."""
MEASURES = ("made", "passed", "passed_at_once")


@dataclass(frozen=True)
class Redrawn:
    """Agents whose every call is a further draw, so that a model replies again in each repeat."""

    agents: Any
    repeat: int

    def __getattr__(self, name: str) -> Any:
        return getattr(self.agents, name)

    def call(self, role: Any, request: Any, *, attempt: int = 0, **more: Any) -> Any:
        """Call the role with draws of this repetition."""
        return self.agents.call(role, request, attempt=attempt + DRAWS * self.repeat, **more)

    def session(self, role: Any, request: Any, bench: Any, *, attempt: int = 0, **more: Any) -> Any:
        """Hold a session with draws of this repetition."""
        return self.agents.session(role, request, bench, attempt=attempt + DRAWS * self.repeat, **more)


@dataclass(frozen=True)
class Arm:
    """An arm over all repeats. shares: measure -> share of its plans with its interval. gates: gate ->
    variants that it blocked."""

    name: str
    plans: int
    shares: dict[str, Interval]
    gates: dict[str, int]
    repairs: int
    usd: float

    def to_json(self) -> dict[str, Any]:
        """Return the arm's figures as JSON values."""
        details = {
            name: {"share": item.estimate, "low": item.low, "high": item.high}
            for name, item in self.shares.items()
        }
        return {
            "arm": self.name,
            "plans": self.plans,
            **details,
            "blocked": self.gates,
            "repairs": self.repairs,
            "usd": self.usd,
        }


def ablate(
    settings: Settings,
    *,
    without: str,
    repeats: int,
    out: Path,
    on_progress: Callable[[str], None] = lambda text: None,
) -> tuple[list[Arm], str]:
    """Return both arms, `repeats` times each, on the population that entered the lake's newest cycle; and
    that cycle.

    out: a folder with the journal; what it holds is not done again.

    Raises:
        InputError: no population, or the journal is of another question. Others as making variants.
    """
    check_coder(settings)
    lake = Lake(settings.require_lake())
    cycles = lake.seals.cycles(LINE)
    if not cycles:
        raise InputError(
            "there is no population to try this on",
            wanted="a lake whose solvers line has begun",
            do="evolake run --lines solvers",
        )
    cycle = max(cycles)
    population = population_of({name: lake.read(LINE, f"incoming_{name}", cycle) for name in ARCHIVE})
    ruleset = with_learned(load_rules(settings.seeds / "rules", LINE), population.rule_proposals.to_dicts())
    journal, done = _begun(out, _question(settings, without, cycle, population, ruleset))
    for repeat in range(repeats):
        for arm in (ALL, f"without {without}"):
            if (key := f"{repeat} {arm}") not in done:
                summary = ruleset if arm == ALL else LEFT_OUT[without](ruleset)
                done[key] = {
                    "repeat": repeat,
                    "arm": arm,
                    **_turn(settings, lake, population, ruleset, summary, cycle=cycle, repeat=repeat),
                }
                append(journal, key, done[key])
            on_progress(f"repeat {repeat + 1} of {repeats}, {arm}")
    rows = [done[f"{repeat} {arm}"] for repeat in range(repeats) for arm in (ALL, f"without {without}")]
    return [
        _arm(name, [row for row in rows if row["arm"] == name]) for name in (ALL, f"without {without}")
    ], cycle


def _turn(
    settings: Settings,
    lake: Lake,
    population: Population,
    ruleset: Ruleset,
    summary: Ruleset,
    *,
    cycle: str,
    repeat: int,
) -> dict[str, Any]:
    """One arm of one repeat: what became of each plan, and what it cost."""
    work = lake.root / "work" / LINE
    workspace = Workspace(
        lake.blobs,
        work,
        settings.seeds,
        settings.of(SolversSettings),
        settings.seed,
        {row["base"]: row for row in population.seeds()},
        seed_trees(lake.blobs, work / "cache", seeds=settings.seeds / "solvers.toml"),
    )
    seeds, run = (
        CycleSeeds(child_seed(settings.seed, LINE, "ablation", "repeat", repeat), LINE, cycle),
        f"ablation-{repeat}",
    )
    judge = judge_folder(workspace, ruleset, cycle=cycle, run_id=run)
    with open_agents(settings, lake.root, cycle, run, line=LINE) as opened, Scratch("ablation") as folder:
        agents: Any = Redrawn(opened, repeat)
        planned = plan_cycle(agents, population, workspace, summary, seeds=seeds)
        with coding(settings, agents, workspace, cycle) as coder:
            turn = CoderTurn(
                agents, judge, Path(folder), workspace.settings, seeds, shown_rules(summary), coder.author
            )
            made = make_variants(turn, population, planned.rows, workspace)
        rows = {row["plan_id"]: row for row in made.rows}
        usd = sum(row["usd"] or 0.0 for row in opened.rows())
    variants = [rows.get(plan["plan_id"]) for plan in planned.rows]
    plans = [
        {"made": row is not None, "gate": row and row["gate"], "repairs": row["repairs"] if row else 0}
        for row in variants
    ]
    return {"plans": plans, "usd": usd}


def _arm(name: str, rows: Sequence[Mapping[str, Any]]) -> Arm:
    plans = [plan for row in rows for plan in row["plans"]]
    passed = [plan["made"] and plan["gate"] is None for plan in plans]
    result = {
        "made": [plan["made"] for plan in plans],
        "passed": passed,
        "passed_at_once": [good and not plan["repairs"] for good, plan in zip(passed, plans, strict=True)],
    }
    gates: dict[str, int] = {}
    for plan in plans:
        if plan["gate"]:
            gates[plan["gate"]] = gates.get(plan["gate"], 0) + 1
    shares = (
        {measure: wilson_interval(sum(result[measure]), len(plans)) for measure in MEASURES} if plans else {}
    )
    return Arm(
        name,
        len(plans),
        shares,
        dict(sorted(gates.items())),
        sum(plan["repairs"] for plan in plans),
        sum(row["usd"] for row in rows),
    )


def _question(settings: Settings, without: str, cycle: str, population: Population, ruleset: Ruleset) -> str:
    """Return what the rows of a journal are an answer to."""
    sizes = settings.of(SolversSettings).model_dump(mode="json")
    asked = [
        settings.backend,
        settings.models,
        settings.seed,
        sizes,
        without,
        cycle,
        sorted(population.live_ids()),
        ruleset.hash,
    ]
    return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()


def _begun(out: Path, question: str) -> tuple[Path, dict[str, Any]]:
    """Return the journal of finished arms in a folder, and what it holds by "repeat arm". Raises InputError
    where it is of another question."""
    out.mkdir(parents=True, exist_ok=True)
    journal = out / JOURNAL
    done = dict(read_journal(journal))
    if not done:
        append(journal, QUESTION, question)
    elif done.pop(QUESTION, None) != question:
        raise InputError(
            f"{journal} is of another ablation",
            wanted="the same lake, backend and settings as when it began",
            do="continue with those, or name another folder by --out",
        )
    return journal, done
