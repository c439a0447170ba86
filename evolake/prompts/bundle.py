"""A system prompt in a bundle: its principles and those of all older prompts, the edits that made it, the
problems that it must not hold, its replies to held-out problems, and the weights that they were given
with."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, ConfigDict, Field

from evolake.bundles.model import Carried, Judging, LineBundle, Said, require_allowed
from evolake.bundles.ruling import gates_again
from evolake.errors import InputError, MachineryError
from evolake.prompts.gate_specs import GATES
from evolake.prompts.measuring_again import (
    FIRST,
    INSTALLED,
    OWN,
    Answers,
    Sides,
    answering,
    held_out,
    installed_root,
    reached,
    shares,
    shipped,
    unfounded,
)
from evolake.prompts.policies.models import FLOAT32, with_dtype
from evolake.prompts.report.story import base_evaluation
from evolake.prompts.settings import PromptsSettings
from evolake.report.artifacts import Artifact

if TYPE_CHECKING:
    from evolake.lake import Catalogue, Lake
    from evolake.prompts.model.protocol import Problem
    from evolake.settings import Settings

LINE = "prompts"
FIRST_CYCLE = "0001"
PROMPTS, PROBLEMS, WEIGHTS = "prompts.json", "problems.json", "checkpoint.safetensors"
OLDER = ("prompt_id", "number", "cycle", "operator", "parents", "principles")
EDIT_COLUMNS = ("operator", "step", "number", "prompt_id", "child_id", "kind", "targets", "text", "applied")
NO_MODEL = ("rows_at_once", "rows_per_pass", "threads")
"""Of this machine's own settings: how the replies are spread over it."""
SAMPLED_BY = {"sampler", "vllm_url", "vllm_folder"}
"""Who samples, which a bundle never says: whoever verifies one samples with transformers."""
LIMITS = {
    "max_tokens",
    "max_prompt_tokens",
    "lora_rank",
    "tool_turns",
    "tool_tokens",
    "heldout_problems",
    "heldout_samples",
}
"""What replies may cost, which this machine's settings decide."""


class Reply(BaseModel):
    """One reply to a held-out problem."""

    model_config = ConfigDict(extra="forbid", strict=True)
    problem_id: str
    sample: int = Field(ge=0)
    reply: str
    truncated: bool
    correct: bool
    formatted: bool


class PromptClaims(BaseModel):
    """What is said of a prompt. edits: rows of `edits` that made it. iteration: after which it was asked.
    start: replies of the first root under the base model, which a gain is measured against."""

    model_config = ConfigDict(extra="forbid")
    settings: dict[str, Any]
    root_seed: int
    edits: list[dict[str, Any]] = Field(max_length=10_000)
    iteration: int | None
    replies: list[Reply] = Field(max_length=100_000)
    start: list[Reply] = Field(default=[], max_length=100_000)


def carry(lake: Lake, catalogue: Catalogue, artifact: Artifact, settings: Settings) -> Carried:
    """Return itself and what is older, its edits, the problems of the cycle that it was made in and of the
    one it was last asked in."""
    entering = lake.cycles(LINE, "incoming_prompts")[-1]
    everyone = sorted(lake.read(LINE, "incoming_prompts", entering).to_dicts(), key=lambda row: row["number"])
    own = next((row for row in everyone if row["prompt_id"] == artifact.artifact_id), None)
    if own is None:
        raise InputError(
            f"{artifact.name} is not in the population that was handed on last", do="evolake champion prompts"
        )
    edits = [
        {name: row[name] for name in EDIT_COLUMNS}
        for row in _read(lake, "edits", own["cycle"])
        if row["child_id"] == artifact.artifact_id
    ]
    cycle, rows = _asked(lake, artifact.artifact_id)
    start = _started(lake) if rows else []
    problems = {
        row["problem_id"]: row
        for name in (FIRST_CYCLE if start else None, own["cycle"], cycle)
        for row in _read(lake, "problems", name)
    }
    state = {row["name"]: json.loads(row["value"]) for row in _read(lake, "incoming_state", entering)}
    weights = state.get("checkpoint") if cycle is not None else None
    summary = with_dtype(settings.of(PromptsSettings)).model_dump(mode="json", exclude=SAMPLED_BY)
    claims = {
        "settings": summary,
        "root_seed": settings.seed,
        "edits": edits,
        "iteration": rows[0]["iteration"] if rows else None,
        **{
            name: [{field: row[field] for field in Reply.model_fields} for row in some]
            for name, some in (("replies", rows), ("start", start))
        },
    }
    members = {
        PROMPTS: [{name: row[name] for name in OLDER} for row in everyone if row["number"] <= own["number"]],
        PROBLEMS: [
            {name: value for name, value in row.items() if name != "cycle"}
            for _, row in sorted(problems.items())
        ],
    }
    packed = {
        name: (json.dumps(value, sort_keys=True, indent=1) + "\n").encode() for name, value in members.items()
    }
    return Carried(claims, packed | ({WEIGHTS: lake.blobs.get(weights)} if weights else {}))


def _asked(lake: Lake, prompt: str) -> tuple[str | None, list[dict[str, Any]]]:
    """(cycle, rows of `heldout`) of its last evaluation with the weights that were handed on last; (None, [])
    where it has none."""
    cycles = lake.cycles(LINE, "heldout")
    result = (
        [row for row in lake.read(LINE, "heldout", cycles[-1]).to_dicts() if row["prompt_id"] == prompt]
        if cycles
        else []
    )
    last = max((row["iteration"] for row in result), default=None)
    rows = [row for row in result if row["iteration"] == last]
    return (
        (cycles[-1], sorted(rows, key=lambda row: (row["problem_id"], row["sample"]))) if rows else (None, [])
    )


def _started(lake: Lake) -> list[dict[str, Any]]:
    """Return replies of the first root under the base model."""
    if lake.record(LINE, "heldout", FIRST_CYCLE) is None:
        return []
    return sorted(base_evaluation(lake).to_dicts(), key=lambda row: (row["problem_id"], row["sample"]))


def _read(lake: Lake, table: str, cycle: str | None) -> list[dict[str, Any]]:
    return (
        lake.read(LINE, table, cycle).to_dicts()
        if cycle is not None and lake.record(LINE, table, cycle) is not None
        else []
    )


def check(judging: Judging) -> Iterator[Said]:
    """Yield identity, both gates, every reply judged again, and a sample of them given again by the policy;
    then what is stated of a champion."""
    from evolake.prompts.model.prompt import from_json

    claims = PromptClaims.model_validate(judging.bundle.read("claims.json"))
    own = _settings(claims, judging.settings.of(PromptsSettings))
    rows, problems = judging.bundle.read(PROMPTS), judging.bundle.read(PROBLEMS)
    itself = next((row for row in rows if row["prompt_id"] == judging.artifact_id), None)
    if itself is None:
        yield Said("identity", "fails", "the prompt is not among its own prompts")
        return
    prompt = from_json(itself["principles"])
    odd = [row["prompt_id"] for row in rows if from_json(row["principles"]).prompt_id != row["prompt_id"]]
    if odd:
        yield Said("identity", "fails", f"the principles of {str(odd[0])[:12]} have another id")
        return
    yield Said(
        "identity",
        "holds",
        f"the principles have the id {prompt.prompt_id[:12]}; so have those of {len(rows) - 1} older prompts",
    )
    yield from _gates(judging, itself, rows, problems, claims)
    root = min(rows, key=lambda row: row["number"])
    first = from_json(root["principles"])
    sides = Sides(
        prompt, first, judging.bundle.members.get(WEIGHTS), installed_root(first, judging.settings.seeds)
    )
    yield from _replies(judging, sides, {row["problem_id"]: _problem(row) for row in problems}, claims, own)


def _settings(claims: PromptClaims, here: PromptsSettings) -> PromptsSettings:
    """Return the settings that its replies were given under.

    Raises:
        ValueError: they name who is to sample here. MachineryError: they ask for more than those of this
            machine allow.
    """
    if named := sorted(SAMPLED_BY & set(claims.settings)):
        raise ValueError(f"its settings have {named[0]}, which only the machine that verifies may choose")
    # a bundle that names no dtype was made when there was no other
    own = PromptsSettings.model_validate({"dtype": FLOAT32} | claims.settings)
    asked = own.model_dump(include=LIMITS)
    for rows in (claims.replies, claims.start):
        asked["heldout_problems"] = max(asked["heldout_problems"], len({row.problem_id for row in rows}))
        asked["heldout_samples"] = max(asked["heldout_samples"], *(1 + row.sample for row in rows), 1)
    require_allowed(LINE, asked, here.model_dump(include=LIMITS))
    return own


def _gates(
    judging: Judging,
    own: Mapping[str, Any],
    rows: Sequence[Mapping[str, Any]],
    problems: Sequence[Mapping[str, Any]],
    claims: PromptClaims,
) -> Iterator[Said]:
    from evolake.prompts.evolution.population import Population
    from evolake.prompts.gates import Newborn, run_gates

    judging.progress("gates")
    population = Population.empty().add(prompts=[dict(row) for row in rows])
    done = run_gates(
        Newborn(own, population, claims.edits, problems), judging.asked, cycle="bundle", run_id="bundle"
    )
    lineage = (
        f"replayed from {len(claims.edits)} edits" if claims.edits else "a root, or a prompt without edits"
    )
    found = (
        f"both pass it (form: {lineage}, new among {len(rows)}; leak: none of {len(problems)} problems is "
        "in it)"
    )
    yield from gates_again(judging, GATES, done, found)


def _replies(
    judging: Judging,
    sides: Sides,
    problems: Mapping[str, Problem],
    claims: PromptClaims,
    own: PromptsSettings,
) -> Iterator[Said]:
    held = judging.bundle.facts["champion"]
    now, start = ([item.model_dump() for item in some] for some in (claims.replies, claims.start))
    asked = [problems[name] for name in dict.fromkeys(item.problem_id for item in claims.replies)]
    if asked and (said := held_out(asked, own, judging.settings.seeds, claims.root_seed)):
        yield said
    for name, some in (("replies", claims.replies), ("replies of the first root", claims.start)):
        if len({(item.problem_id, item.sample) for item in some}) < len(some):
            yield Said(name, "fails", "it has a reply to one problem twice")
            return
        if refused := _misjudged(some, problems, own):
            yield Said(name, "fails", refused)
            return
        if some:
            share = sum(item.correct for item in some) / len(some)
            yield Said(name, "holds", f"{len(some)} judged again: {share:.1%} are right, as claimed")
    if refused := unfounded(held, now, start, sides.root.prompt_id):
        yield Said("gain over the first root", "fails", refused, gain=True)
        return
    if not claims.replies:
        yield Said("replies", "unmeasured", "it was asked no held-out problem after the last iteration")
        return
    share = sum(item.correct for item in claims.replies) / len(claims.replies)
    if held and held["score"] is not None and abs(held["score"] - share) > 1e-9:
        yield Said("score", "fails", f"its replies come to {share:.6g}, and it claims {held['score']:.6g}")
        return
    if held and held["gain"]:
        yield Said(
            "gain over the first root",
            "recomputed",
            f"{held['gain']['text']}: it follows from the replies in the bundle",
        )
    yield from _sampled(judging, sides, problems, claims, own)


def _misjudged(claimed: Sequence[Reply], problems: Mapping[str, Problem], own: PromptsSettings) -> str:
    """Return which reply is judged otherwise here; "" if none is."""
    from evolake.prompts.model.protocol import outside_calls
    from evolake.prompts.model.scoring import judge_reply, verify

    said = [outside_calls(item.reply) if own.tools else item.reply for item in claimed]
    given = [
        (problems[item.problem_id], reply, item.truncated) for item, reply in zip(claimed, said, strict=True)
    ]
    for element, (problem, reply, truncated), verified in zip(
        claimed, given, verify(given, own.answer_format), strict=True
    ):
        result = judge_reply(reply, problem, own.answer_format, truncated=truncated, verified=verified)
        if (result.correct, result.formatted) != (element.correct, element.formatted):
            claim, here = ("right" if right else "wrong" for right in (element.correct, result.correct))
            return f"its reply to {element.problem_id} is {here}, and it claims {claim}"
    return ""


def _sampled(
    judging: Judging,
    sides: Sides,
    problems: Mapping[str, Problem],
    claims: PromptClaims,
    own: PromptsSettings,
) -> Iterator[Said]:
    """Ask the policy again, greedily. What was drawn by chance cannot be given again, nor what came from an
    endpoint or rests on a corpus."""
    from evolake.prompts.evolution.prompt_contest import heldout_is_greedy

    if own.policy == "endpoint":
        why = "an endpoint gave them"
    elif not heldout_is_greedy(own):
        why = "they were drawn by chance"
    else:
        why = ""
    if not why and "search" in own.tools:
        why = "they rest on a corpus that a bundle does not carry"
    if why:
        yield Said(
            "policy",
            "unmeasured",
            f"{why}: the replies were judged again, not given again",
            (0, len(claims.replies)),
        )
        return
    if own.policy_model is not None:
        raise MachineryError(
            "its policy is based on a model that a bundle does not carry", got=own.policy_model
        )
    here = judging.settings.of(PromptsSettings)
    settings = judging.settings.model_copy(
        update={
            "prompts": own.model_copy(update={name: getattr(here, name) for name in NO_MODEL}),
            "seed": claims.root_seed,
        }
    )
    ask = answering(settings, own, sides, judging.progress)
    weights = "the weights that it brings" if sides.weights is not None else "the weights before any update"
    for side, some, by in (
        (OWN, claims.replies, weights),
        (FIRST, claims.start, "the weights before any update"),
    ):
        if some:
            yield _given_again(ask, side, judging.drawn(some), problems, len(some), by)
    held = judging.bundle.facts["champion"]
    if held is None or held["gain"] is None:
        return
    asked = [problems[item.problem_id] for item in claims.replies]
    if not shipped(asked, judging.settings.seeds):
        why = "the problems are none that ship with evolake, so that no others can be drawn here"
        yield Said("gain on fresh problems", "unmeasured", why, gain=True)
        return
    before = (
        shares([item.model_dump() for item in claims.replies]),
        shares([item.model_dump() for item in claims.start]),
    )
    rivals = (FIRST,) if sides.installed is None else (FIRST, INSTALLED)
    yield from reached(ask, before, held["gain"], own, judging.settings.seeds, judging.sample, rivals)


def _given_again(
    ask: Answers,
    side: str,
    chosen: Sequence[Reply],
    problems: Mapping[str, Problem],
    brought: int,
    weights: str,
) -> Said:
    what = "policy" if side == OWN else f"policy: {side}"
    again = ask(side, [problems[item.problem_id] for item in chosen])
    for element, row in zip(chosen, again, strict=True):
        if row["correct"] != element.correct:
            claim, said = ("right" if right else "wrong" for right in (element.correct, row["correct"]))
            return Said(
                what, "fails", f"its reply to {element.problem_id} is {said} here, and it claims {claim}"
            )
    same = sum(row["reply"] == item.reply for item, row in zip(chosen, again, strict=True))
    said = (
        f"asked again with {weights} for {len(chosen)} of {brought}: each as right or wrong as claimed, "
        f"{same} the same word by word"
    )
    return Said(what, "holds", said, (len(chosen), brought))


def _problem(row: Mapping[str, Any]) -> Problem:
    from evolake.prompts.model.protocol import Problem

    return Problem(**{name: row[name] for name in Problem.__dataclass_fields__ if name in row})


BUNDLE = LineBundle(
    ("system prompt",), (PROMPTS, PROBLEMS, WEIGHTS), tuple(gate.name for gate in GATES), carry, check
)
