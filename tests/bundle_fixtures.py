"""Small lakes, each with one champion of a line, whose claims are what was really measured."""

import json
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict
from pathlib import Path
from typing import Any

from lent_pool import lent_pool
from prompts_fixtures import problem

from evolake.designs import tables as designs
from evolake.designs.evolution.design_contest import Contender, decide_champion, evaluation_rows
from evolake.designs.evolution.experiments import simulate_level
from evolake.designs.evolution.judging import DesignGates
from evolake.designs.settings import DesignsSettings, FidelitySettings
from evolake.designs.tracing.trace import PRELOAD as DESIGNS_PRELOAD
from evolake.families.gates.instances import sample_instances
from evolake.families.model.family_files import read_family
from evolake.families.model.population import store_family
from evolake.families.sandbox.running import PRELOAD as FAMILIES_PRELOAD
from evolake.families.settings import FamiliesSettings
from evolake.families.tables import FAMILIES, INSTANCES
from evolake.gates import load_rules
from evolake.lake import (
    ARTIFACTS,
    CHAMPIONS,
    DERIVATIONS,
    EVALUATIONS,
    RULES,
    VERDICTS,
    Lake,
    TableSchema,
    side_table,
)
from evolake.programs import tables as programs
from evolake.programs.evolution.added_seeds import initial_row
from evolake.programs.evolution.generations import judge, judged_row
from evolake.programs.evolution.outcome import measured_rows, search_seeds
from evolake.programs.evolution.population import Birth, program_row, texts_bytes
from evolake.programs.gates import Candidate
from evolake.programs.model.project import Project, pack_files
from evolake.programs.sandbox.evaluating import Evaluator
from evolake.programs.settings import ProgramsSettings
from evolake.prompts import tables as prompts
from evolake.prompts.evolution.prompt_contest import replies
from evolake.prompts.model.problems import problem_set
from evolake.prompts.model.prompt import Hunk, SystemPrompt, apply, prompt_of
from evolake.prompts.policies.registry import open_policy
from evolake.prompts.settings import PromptsSettings
from evolake.seeds import CycleSeeds
from evolake.settings import default_seeds
from evolake.settings import load as load_settings

SEEDS = default_seeds()
FAMILY = "remainder-subsets"
SMALL_FAMILIES = FamiliesSettings(instances_per_family=4)
SMALL_PROMPTS: dict[str, Any] = {"policy": "tiny", "max_tokens": 8, "lora_rank": 4, "lora_alpha": 4}
HELD_OUT = (101, 102, 103)
ROOT = "Solve the problem and end with the answer."
"""The principle of the root that ships."""
BASELINE_DESIGN = (SEEDS / "designs" / "baseline.py").read_text()
BETTER_DESIGN = (SEEDS / "reference_designs" / "open_search.py").read_text()


def publish(
    lake: Lake,
    line: str,
    asset: str,
    schema: TableSchema,
    rows: Iterable[Mapping[str, Any]],
    cycle: str | None = "0001",
) -> None:
    lake.publish(line, asset, schema.frame(rows), cycle=cycle, run_id="r", schema=schema)


def crown(
    lake: Lake,
    line: str,
    row: Mapping[str, Any],
    verdicts: Sequence[Mapping[str, Any]],
    score: float = 0.25,
    others: Sequence[Mapping[str, Any]] = (),
) -> None:
    """One finished cycle whose champion is the artifact of `row`, which passed its gates. row, others: of
    ARTIFACTS."""
    known = [{"line": line, "cycle": "0001", "state": "champion", **item} for item in (row, *others)]
    publish(lake, line, side_table("survivors", ARTIFACTS), ARTIFACTS, known)
    champion = {"line": line, "cycle": "0001", "artifact_id": row["artifact_id"], "score": score}
    publish(lake, line, side_table("survivors", CHAMPIONS), CHAMPIONS, [champion])
    publish(lake, line, side_table("judged", VERDICTS), VERDICTS, verdicts)
    publish(lake, line, side_table("judged", RULES), RULES, load_rules(SEEDS / "rules", line).rows())
    lake.seals.seal(line, "0001", "v1", None, "r")
    lake.seals.seal(line, "0002", "v2", "v1", "r")


def design_lake(root: Path) -> Lake:
    """The baseline design, with two runs."""
    lake, sizes = Lake(root), DesignsSettings()
    source = (SEEDS / "designs" / "baseline.py").read_text()
    with lent_pool(1, DESIGNS_PRELOAD) as pool:
        done = DesignGates(pool, load_rules(SEEDS / "rules", "designs"), sizes, "0001", "r")(source, {}, {})
    assert done.accepted and done.traced is not None, done.reason
    traced = json.dumps(done.traced.to_json())
    row = {
        "design_id": done.design_id,
        "state": "champion",
        "cycle": "0001",
        "title": "baseline",
        "operator": "seed",
        "source_sha": lake.blobs.put(source.encode()),
        "traced_sha": lake.blobs.put(traced.encode()),
        "hyper": "{}",
    }
    publish(lake, "designs", "incoming_designs", designs.DESIGNS, [row], "0002")
    result = {
        seed: simulate_level(traced, 20, 2000, seed, 60, sizes.model_copy(update={"batch": 6}))
        for seed in HELD_OUT[:2]
    }
    publish(
        lake,
        "designs",
        "champion_trials",
        designs.DUELS,
        [
            {
                "cycle": "0001",
                "part": "incumbent",
                "design_id": done.design_id,
                "pair": pair,
                "N": 20,
                "batch": 6,
                "seed": seed,
                "max_steps": 2000,
                "median_step": item.median_step,
                "unsolved_fraction": item.unsolved_fraction,
                "solved": True,
                "steps_run": item.steps_run,
                "timed_out": False,
            }
            for pair, (seed, item) in enumerate(result.items())
        ],
    )
    publish(lake, "designs", "champion_decisions", designs.DECISIONS, [])
    crown(
        lake,
        "designs",
        _artifact(done.design_id, "design", row["source_sha"], "baseline"),
        [verdict.row() for verdict in done.verdicts],
    )
    return lake


def improved_design_lake(
    root: Path,
    *,
    repeats: int = 6,
    n: int = 113,
    better: str = BETTER_DESIGN,
    baseline: str = BASELINE_DESIGN,
    seed: int = 0,
) -> Lake:
    """A design that has won the title from the baseline, by the contest of the line."""
    lake = Lake(root)
    high = FidelitySettings(max_n=n, max_steps=6000, core_s=60)
    sizes = DesignsSettings(n_start=n, batch=12, high=high, champion_repeats=repeats)
    sources = {"baseline": baseline, "better": better}
    rules = load_rules(SEEDS / "rules", "designs")
    with lent_pool(1, DESIGNS_PRELOAD) as pool:
        done = {
            name: DesignGates(pool, rules, sizes, "0001", "r")(text, {}, {}) for name, text in sources.items()
        }
    rows, sides = [], {}
    for name, result in done.items():
        assert result.accepted and result.traced is not None, result.reason
        traced = json.dumps(result.traced.to_json())
        sides[name] = Contender(result.design_id, traced, n)
        rows.append(
            {
                "design_id": result.design_id,
                "state": "champion" if name == "better" else "accepted",
                "cycle": "0001",
                "title": name,
                "origin": "seed",
                "operator": "seed",
                "source_sha": lake.blobs.put(sources[name].encode()),
                "traced_sha": lake.blobs.put(traced.encode()),
                "hyper": "{}",
            }
        )
    with ThreadPoolExecutor(1) as executor:
        decided = decide_champion(
            sides["better"],
            sides["baseline"],
            sides["baseline"],
            executor=executor,
            settings=sizes,
            profile="demo",
            cycle_seeds=CycleSeeds(seed, "designs", "0001"),
        )
    assert decided.champion_id == sides["better"].design_id, decided.decisions
    publish(lake, "designs", "incoming_designs", designs.DESIGNS, rows, "0002")
    publish(lake, "designs", "champion_trials", designs.DUELS, decided.trials)
    publish(lake, "designs", "champion_decisions", designs.DECISIONS, decided.decisions)
    publish(lake, "designs", side_table("duelled", EVALUATIONS), EVALUATIONS, evaluation_rows(decided.trials))
    crown(
        lake,
        "designs",
        _artifact(decided.champion_id, "design", rows[1]["source_sha"], "better"),
        [verdict.row() for verdict in done["better"].verdicts],
        others=[_artifact(rows[0]["design_id"], "design", rows[0]["source_sha"], "baseline", "accepted")],
    )
    return lake


def family_lake(root: Path) -> Lake:
    """A seed family with a few labelled instances; what its gates said is not run for it, but read from the
    rules."""
    lake, family = Lake(root), read_family(SEEDS / "families" / FAMILY)
    with lent_pool(1, FAMILIES_PRELOAD) as pool:
        sampled = sample_instances(family, pool=pool, settings=SMALL_FAMILIES, root_seed=0, cycle="0001")
    row = {
        "family_id": family.family_id,
        "state": "accepted",
        "cycle": "0000",
        "name": family.name,
        "title": family.title,
        "operator": "seed",
        "record_sha": store_family(family, lake.blobs),
    }
    publish(lake, "families", "incoming_families", FAMILIES, [row])
    publish(lake, "families", "instances", INSTANCES, sampled.rows)
    crown(
        lake,
        "families",
        _artifact(family.family_id, "family", row["record_sha"], family.title, "accepted"),
        passed("families", family.family_id),
    )
    return lake


def program_lake(
    root: Path, project: Project, texts: Mapping[str, str] | None = None, *, score: float | None = None
) -> Lake:
    """A project whose champion is the program of these texts (None: the initial one), measured for real.
    score: claimed instead of what it scores."""
    lake, own, rules = Lake(root), ProgramsSettings(repeats=2), load_rules(SEEDS / "rules", "programs")
    start = initial_row(project, 0, "0000", lake.blobs)
    seeds = search_seeds(project, own, 0)
    with Evaluator(project, own) as evaluator:
        candidate = Candidate(dict(texts or project.evolving), start["program_id"], evaluator, seeds)
        results = judge(candidate, rules, lake.blobs, cycle="0001", run_id="r")
        row = judged_row(start, candidate, results) | {"state": "champion"}
        held = [evaluator.evaluate(candidate.texts, seed) for seed in HELD_OUT]
    measured = measured_rows(project, start["program_id"], candidate.evaluations, "0001")
    heldout = measured_rows(project, start["program_id"], held, "0001", "heldout", "champion")
    if score is not None:
        heldout = [item | {"score": score} for item in heldout]
    blob = lake.blobs.put(pack_files(project.files))
    details = {
        "project": project.name,
        "cycle": "0001",
        "project_sha": project.sha,
        "blob_sha": blob,
        "initial_id": start["program_id"],
    }
    details |= {
        "mode": project.mode,
        "score_name": project.score_name,
        "higher_is_better": True,
        "living": 1,
        "note": "",
    }
    mean = sum(item["score"] or 0 for item in heldout) / len(heldout)
    decision = {
        "cycle": "0001",
        "project": project.name,
        "champion_id": start["program_id"],
        "wins": False,
        "pairs": 0,
        "noise": 0.0,
        "holder_id": start["program_id"],
        "holder_mean": mean,
        "initial_mean": mean,
        "protected": project.protected,
        "reason": "",
    }
    publish(lake, "programs", "projects", programs.PROJECTS, [details])
    publish(lake, "programs", "measured", programs.MEASURED, measured)
    publish(lake, "programs", "heldout", programs.MEASURED, heldout)
    publish(lake, "programs", "champion", programs.DECISIONS, [decision])
    for name, schema in programs.ARCHIVE.items():
        publish(lake, "programs", f"incoming_{name}", schema, [row] if name == "programs" else [], "0002")
    artifact = _artifact(start["program_id"], "program", row["files_sha"], f"{project.name} initial 0")
    crown(lake, "programs", artifact, [verdict.row() for verdict in results.verdicts], mean)
    return lake


def improved_program_lake(root: Path, project: Project, text: str, seeds: Sequence[int] = HELD_OUT) -> Lake:
    """A project whose champion is the program with this text of its main file, which has won the title from
    the initial one under held-out seeds."""
    lake, own, rules = Lake(root), ProgramsSettings(repeats=2), load_rules(SEEDS / "rules", "programs")
    start = initial_row(project, 0, "0000", lake.blobs) | {"state": "accepted", "score": 1.0}
    texts = {**project.evolving, project.main: text}
    birth = Birth("0001", 1, 1, "number", [start["program_id"]], "operators")
    row = program_row(project, texts, birth, files_sha=lake.blobs.put(texts_bytes(texts)), size=len(text))
    with Evaluator(project, own) as evaluator:
        candidate = Candidate(texts, row["program_id"], evaluator, search_seeds(project, own, 0))
        results = judge(candidate, rules, lake.blobs, cycle="0001", run_id="r")
        row = judged_row(row, candidate, results) | {"state": "champion"}
        ours = [evaluator.evaluate(texts, seed) for seed in seeds]
        theirs = [evaluator.evaluate(project.evolving, seed) for seed in seeds]
    heldout = measured_rows(project, row["program_id"], ours, "0001", "heldout", "challenger")
    heldout += measured_rows(project, start["program_id"], theirs, "0001", "heldout", "champion")
    mean = sum(item["score"] for item in heldout[: len(seeds)]) / len(seeds)
    decision = {
        "cycle": "0001",
        "project": project.name,
        "champion_id": start["program_id"],
        "challenger_id": row["program_id"],
        "wins": True,
        "pairs": len(seeds),
        "noise": 0.0,
        "holder_id": row["program_id"],
        "holder_mean": mean,
        "initial_mean": 1.0,
        "protected": project.protected,
        "reason": "",
    }
    details = {
        "project": project.name,
        "cycle": "0001",
        "project_sha": project.sha,
        "blob_sha": lake.blobs.put(pack_files(project.files)),
        "initial_id": start["program_id"],
        "mode": project.given.evaluator.mode,
        "score_name": project.score_name,
        "higher_is_better": project.higher_is_better,
        "living": 2,
        "note": "",
    }
    publish(lake, "programs", "projects", programs.PROJECTS, [details])
    publish(
        lake,
        "programs",
        "measured",
        programs.MEASURED,
        measured_rows(project, row["program_id"], candidate.evaluations, "0001"),
    )
    publish(lake, "programs", "heldout", programs.MEASURED, heldout)
    publish(lake, "programs", "champion", programs.DECISIONS, [decision])
    for name, schema in programs.ARCHIVE.items():
        publish(
            lake, "programs", f"incoming_{name}", schema, [start, row] if name == "programs" else [], "0002"
        )
    artifact = _artifact(row["program_id"], "program", row["files_sha"], f"{project.name} number 1")
    first = _artifact(start["program_id"], "program", start["files_sha"], f"{project.name} 0", "accepted")
    edge = {"child_id": row["program_id"], "parent_id": start["program_id"], "operator": "number"}
    edge |= {"weight": 1.0, "cycle": "0001"}
    publish(lake, "programs", side_table("candidates", DERIVATIONS), DERIVATIONS, [edge])
    crown(lake, "programs", artifact, [verdict.row() for verdict in results.verdicts], mean, [first])
    return lake


def passed(line: str, artifact_id: str) -> list[dict[str, Any]]:
    """Verdicts by which an artifact passed every rule of a line."""
    ruleset = load_rules(SEEDS / "rules", line)
    return [
        {
            "artifact_id": artifact_id,
            "cycle": "0001",
            "gate_no": 0,
            "gate": rule.gate,
            "rule_id": rule.id,
            "rule_version": str(rule.version),
            "ruleset_hash": ruleset.hash,
            "outcome": "pass",
            "reason": "",
            "run_id": "r",
        }
        for rule in ruleset.rules
    ]


def _artifact(
    artifact_id: str, kind: str, content_sha: str, title: str, state: str = "champion"
) -> dict[str, Any]:
    return {
        "artifact_id": artifact_id,
        "kind": kind,
        "content_sha": content_sha,
        "title": title,
        "state": state,
    }


def prompt_lake(root: Path) -> Lake:
    """A child of one edit, asked two held-out problems by the policy of random weights."""
    lake = Lake(root)
    parent = prompt_of(["Think."])
    child = apply(parent, [Hunk("add", (), "Check the end.")]).prompt
    held = [problem(number, "heldout") for number in (1, 2)]
    own = PromptsSettings(**SMALL_PROMPTS)
    policy = open_policy(load_settings(lake=root).model_copy(update={"prompts": own}), root, "0001", "r")
    result = replies(policy, [child], held, samples=1, answer_format=own.answer_format, seed=0)
    rows, edit = _one_edit(parent, child)
    publish(lake, "prompts", "incoming_prompts", prompts.PROMPTS, rows, "0002")
    publish(lake, "prompts", "incoming_derivations", prompts.ARCHIVE["derivations"], [], "0002")
    publish(lake, "prompts", "incoming_state", prompts.ARCHIVE["state"], [], "0002")
    publish(lake, "prompts", "edits", prompts.EDITS, [edit])
    publish(
        lake,
        "prompts",
        "problems",
        prompts.PROBLEMS,
        [
            {"cycle": "0001"}
            | {name: value for name, value in asdict(item).items() if name in prompts.PROBLEMS.columns}
            for item in held
        ],
    )
    publish(
        lake,
        "prompts",
        "heldout",
        prompts.EVALUATIONS,
        [item | {"cycle": "0001", "arm": "espl", "iteration": 1} for item in result],
    )
    edge = {
        "child_id": child.prompt_id,
        "parent_id": parent.prompt_id,
        "operator": "mutation",
        "weight": 1.0,
        "cycle": "0001",
    }
    publish(lake, "prompts", side_table("children", DERIVATIONS), DERIVATIONS, [edge])
    artifact = _artifact(child.prompt_id, "system prompt", child.prompt_id, "mutation 1")
    crown(
        lake,
        "prompts",
        artifact,
        passed("prompts", child.prompt_id),
        sum(item["correct"] for item in result) / len(result),
    )
    return lake


def _one_edit(parent: SystemPrompt, child: SystemPrompt) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """(rows of the root and of the champion that one edit made of it, the row of that edit)."""
    rows = [
        {
            "prompt_id": prompt.prompt_id,
            "cycle": cycle,
            "iteration": number,
            "number": number,
            "state": state,
            "operator": operator,
            "parents": parents,
            "principles": prompt.to_json(),
            "text": prompt.text(),
            "size": len(prompt.principles),
            "mu": 25.0,
            "sigma": 8.0,
            "rounds": 1,
        }
        for number, (prompt, cycle, state, operator, parents) in enumerate(
            (
                (parent, "0000", "accepted", "root", []),
                (child, "0001", "champion", "mutation", [parent.prompt_id]),
            )
        )
    ]
    edit = {
        "cycle": "0001",
        "arm": "espl",
        "iteration": 1,
        "operator": "mutation",
        "step": "local",
        "number": 0,
        "prompt_id": parent.prompt_id,
        "child_id": child.prompt_id,
        "kind": "add",
        "targets": [],
        "text": "Check the end.",
        "applied": True,
        "reason": "",
    }
    return rows, edit


def improved_prompt_lake(root: Path, *, held_out: int = 6) -> Lake:
    """A child of one edit and the first root, both asked all held-out problems that ship, by the policy of
    random weights, which gets none right."""
    lake = Lake(root)
    parent = prompt_of([ROOT])
    child = apply(parent, [Hunk("add", (), "Check the end.")]).prompt
    own = PromptsSettings(**SMALL_PROMPTS, heldout_problems=held_out)
    held = problem_set(own, lake=None, seeds=SEEDS, seed=0).heldout
    policy = open_policy(load_settings(lake=root).model_copy(update={"prompts": own}), root, "0001", "r")
    asked = [
        item | {"cycle": "0001", "arm": "espl", "iteration": iteration}
        for iteration, prompt in enumerate((parent, child))
        for item in replies(policy, [prompt], held, samples=1, answer_format=own.answer_format, seed=0)
    ]
    rows, edit = _one_edit(parent, child)
    publish(lake, "prompts", "incoming_prompts", prompts.PROMPTS, rows, "0002")
    state = [{"name": "iteration", "value": "1"}]
    for name, schema in prompts.ARCHIVE.items():
        if name != "prompts":
            publish(lake, "prompts", f"incoming_{name}", schema, state if name == "state" else [], "0002")
    publish(lake, "prompts", "edits", prompts.EDITS, [edit])
    publish(
        lake,
        "prompts",
        "problems",
        prompts.PROBLEMS,
        [
            {"cycle": "0001"}
            | {name: value for name, value in asdict(item).items() if name in prompts.PROBLEMS.columns}
            for item in held
        ],
    )
    publish(lake, "prompts", "heldout", prompts.EVALUATIONS, asked)
    edge = {
        "child_id": child.prompt_id,
        "parent_id": parent.prompt_id,
        "operator": "mutation",
        "weight": 1.0,
        "cycle": "0001",
    }
    publish(lake, "prompts", side_table("children", DERIVATIONS), DERIVATIONS, [edge])
    artifact = _artifact(child.prompt_id, "system prompt", child.prompt_id, "mutation 1")
    crown(lake, "prompts", artifact, passed("prompts", child.prompt_id), 0.0)
    return lake
