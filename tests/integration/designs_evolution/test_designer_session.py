"""The designer as a session: a real server, a real jail, real engines and gates."""

import json
from pathlib import Path
from typing import Any

import pytest
from designs_genomes import DRAG, changed
from loopback_model import KEY, Action, LoopbackModel, call
from pydantic import SecretStr

from evolake.agents import open_agents
from evolake.designs.evolution.designing import DesignerTurn, Proposals, propose_candidates
from evolake.designs.evolution.population import Population, empty_population
from evolake.designs.evolution.proposals import (
    Judge,
    derivation_rows,
    design_row,
    seed_candidate,
    store_candidate,
)
from evolake.designs.evolution.trials import SessionDesigner, chosen_designer
from evolake.designs.genome.open_compose import compose
from evolake.designs.genome.open_genome import baseline
from evolake.designs.settings import DesignsSettings
from evolake.designs.tables import TRIALS
from evolake.lake import Lake
from evolake.seeds import CycleSeeds
from evolake.settings import BudgetSettings, Settings

FINISH = ("finish", {"explanation": "A drag at the edges.", "short_name": "edge drag"})


def by_sessions(
    folder: Path, pool: Any, judge: Judge, sizes: DesignsSettings, script: list[Action], port: int = 0
) -> tuple[Proposals, list, list, int]:
    lake, population = Lake(folder), empty_population()
    seed = seed_candidate("baseline", compose(baseline(), "baseline"), population.graphs(), judge, baseline())
    population: Population = population.admit(
        [design_row(seed, "0000", *store_candidate(lake.blobs, seed))], derivation_rows(seed, "0000")
    )
    direction = {
        "direction_id": "d",
        "phase": "early_exploration",
        "direction": "Add a drag.",
        "rationale": "",
        "focus": "",
        "avoid": "",
        "key_insights": [],
        "reference_ids": [seed.design_id],
    }
    sizes = sizes.model_copy(update={"designs_per_cycle": 1, "designer": "session"})
    with LoopbackModel(script, port) as server:
        settings = Settings(
            backend="model",
            model_base_url=server.base_url,
            model_api_key=SecretStr(KEY),
            models={"default": "m"},
            budget=BudgetSettings(tokens_per_run=10**7),
        )
        with open_agents(settings, folder, "0001", "run", line="designs") as agents:
            session = SessionDesigner(agents, pool, pool.call, sizes, "0001", 0)
            turn = DesignerTurn(agents, judge, sizes, CycleSeeds(0, "designs", "0001"), "model", session)
            result = propose_candidates(
                turn, population, [direction], lambda sha: lake.blobs.get(sha).decode()
            )
            return result, agents.turns(), server.requests, server.port


USELESS = (
    "unusable: 3 turns in a row were of no use, the last: The session is not finished, because its files "
    "are no reply: "
)


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ([call(("write_file", {"path": "references/baseline.py", "text": ""}))], "looped: "),
        ([call(("delete_file", {"path": "design.py"})), call(FINISH)], f"{USELESS}design.py: "),
    ],
)
def test_a_session_of_no_use_is_a_failure_with_its_status(tmp_path, pool, judge_once, tiny, script, reason):
    result, *_ = by_sessions(tmp_path, pool, judge_once, tiny, script)
    assert result.candidates == []
    [failure] = result.failures
    assert f"{failure.status}: {failure.reason}".replace("outside", "looped").startswith(reason)


@pytest.mark.parametrize(
    ("backend", "budget", "designer"),
    [
        ("model", BudgetSettings(tokens_per_run=3_000_000), "session"),
        ("model", BudgetSettings(tokens_per_run=2_999_999), "one-shot"),
        ("model", BudgetSettings(tokens_per_run=9_000_000, tokens_per_cycle=100_000), "one-shot"),
        ("model", BudgetSettings(usd_per_run=5), "one-shot"),
        ("operators", BudgetSettings(tokens_per_run=9_000_000), "one-shot"),
    ],
)
def test_sessions_are_the_default_where_each_design_can_have_its_tokens(tiny, backend, budget, designer):
    sizes = tiny.model_copy(update={"designs_per_cycle": 20})
    assert chosen_designer(sizes, backend, budget) == designer
    asked = sizes.model_copy(update={"designer": "one-shot"})
    assert chosen_designer(asked, backend, budget) == "one-shot"


BETTER = compose(changed({"lr": 1.3}, v=DRAG)).replace("Open grammar: v:v, v:square", "Written by hand")


BROKEN = BETTER.replace("return {", "return {} if float(c[0]) > 0 else {")


def write(text: str) -> tuple[str, dict[str, str]]:
    return "write_file", {"path": "design.py", "text": text}


EXPERT = [
    call(
        ("list_files", {}),
        ("read_file", {"path": "design.py", "last_line": 20}),
        ("check", {}),
        thought="What is there?",
    ),
    call(write(BROKEN), ("check", {})),
    call(write(BETTER), ("check", {})),
    call(("trial", {"variables": 10, "instances": 4, "max_steps": 400})),
    call(FINISH),
]


def test_a_session_reads_breaks_mends_and_tries_a_design_that_passes_every_gate_and_replays_for_nothing(
    tmp_path, pool, judge_at, tiny
):
    result, turns, asked, port = by_sessions(tmp_path, pool, judge_at("0001"), tiny, EXPERT)
    [candidate] = result.candidates
    assert (candidate.accepted, candidate.source.strip(), candidate.title, candidate.origin) == (
        True,
        BETTER.strip(),
        "edge drag",
        "model",
    )
    assert {turn["artifact_id"] for turn in turns} == {candidate.design_id}
    parts = [[done["result"] for done in json.loads(turn["text"])["calls"]] for turn in turns]
    assert "references/baseline.py" in parts[0][0] and parts[0][2].startswith("It is a design of ")
    assert parts[1][1].startswith("It is no design yet: ")
    assert parts[2][1].startswith("It is a design of ")
    [line] = parts[3][0].splitlines()
    assert line.startswith("N=10 ratio: ") and line.endswith(
        " (4 batches of 4 instances, a work of 400 allowed; solved: more than half of its instances)"
    ), line
    assert ". Yours solved " in line and "; start solved " in line
    rows = TRIALS.frame(result.trials)  # of a session, too, runs count
    assert rows.height == 2 * 4 and set(rows["pair"]) == {100, 101, 102, 103} and set(rows["number"]) == {1}
    assert TRIALS.repeated_keys(rows).is_empty()
    assert (
        " work (95% interval " in parts[3][0]
        and "You have at most 40 turns" in asked[0].messages[1]["content"]
    )
    assert [len(weight) for weight in candidate.weights] == [2]
    again, replayed, none, _ = by_sessions(tmp_path, pool, judge_at("0001"), tiny, [], port)
    assert (none, [item.design_id for item in again.candidates]) == (
        [],
        [candidate.design_id],
    ) and TRIALS.frame(again.trials).equals(rows)
    assert [turn["tree_sha"] for turn in replayed] == [turn["tree_sha"] for turn in turns] and len(
        asked
    ) == len(turns)
