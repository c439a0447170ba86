"""The population: founding, children, ratings, states, the champion, and its tables."""

from __future__ import annotations

import polars as pl
import pytest

from evolake.prompts.evolution.population import Birth, Population, found_population, population_of
from evolake.prompts.model.prompt import SystemPrompt, prompt_of
from evolake.prompts.rating.ratings import MU, SIGMA

ROOT = prompt_of(["Solve it."])


def child(number: int) -> SystemPrompt:
    return prompt_of(["Solve it.", f"Advice {number}."])


def population(children: int = 0) -> Population:
    result = found_population({"plain": ROOT}, "0001")
    for number in range(children):
        result = result.with_child(
            child(number),
            {ROOT.prompt_id: 1.0},
            (25.0 + number, 8.0),
            Birth("mutation", "0002", number + 1, "operators"),
        )
    return result


def states(current: Population) -> list[str]:
    return [row["state"] for row in current.rows()]


def test_a_population_starts_from_a_root_with_a_fresh_rating() -> None:
    result = population()
    assert result.rows() == [
        {
            "prompt_id": ROOT.prompt_id,
            "cycle": "0001",
            "iteration": 0,
            "number": 0,
            "state": "candidate",
            "operator": "root",
            "parents": [],
            "principles": ROOT.to_json(),
            "text": ROOT.text(),
            "size": 1,
            "mu": MU,
            "sigma": SIGMA,
            "rounds": 0,
            "origin": "plain",
            "idea": None,
        }
    ]
    assert result.iteration == 0 and result.champion_id is None and result.prompt(ROOT.prompt_id) == ROOT
    with pytest.raises(ValueError, match="root"):
        found_population({}, "0001")
    with pytest.raises(ValueError, match="root"):
        found_population({"a": ROOT, "b": ROOT}, "0001")


def test_a_child_comes_last_with_its_parents_and_weights() -> None:
    other = child(7)
    result = population(1).with_child(
        other,
        {ROOT.prompt_id: 0.25, child(0).prompt_id: 0.75},
        (26.0, 2.0),
        Birth("crossover", "0003", 4, "model"),
    )
    row = result.row(other.prompt_id)
    assert (row["number"], row["operator"], row["parents"], row["origin"]) == (
        2,
        "crossover",
        [ROOT.prompt_id, child(0).prompt_id],
        "model",
    )
    assert result.rating(other.prompt_id) == (26.0, 2.0) and result.derivations.filter(
        pl.col("child_id") == other.prompt_id
    ).rows() == [
        (other.prompt_id, ROOT.prompt_id, "crossover", 0.25, "0003"),
        (other.prompt_id, child(0).prompt_id, "crossover", 0.75, "0003"),
    ]
    assert result.known() == {ROOT.texts, child(0).texts, other.texts}
    with pytest.raises(ValueError, match="already"):
        result.with_child(other, {ROOT.prompt_id: 1.0}, (25.0, 1.0), Birth("mutation", "0003", 4, "model"))
    with pytest.raises(KeyError):
        result.row("nobody")


def test_states_follow_the_window_and_the_champion_reigns_on() -> None:
    result = population(3).rated({ROOT.prompt_id: (24.0, 7.0), child(2).prompt_id: (27.0, 5.0)})
    assert result.rating(ROOT.prompt_id) == (24.0, 7.0) and [row["rounds"] for row in result.rows()] == [
        1,
        0,
        0,
        1,
    ]
    assert states(result.in_window(10)) == ["accepted", "candidate", "candidate", "accepted"]
    assert states(result.in_window(2)) == ["retired", "retired", "candidate", "accepted"]
    crowned = result.with_champion(ROOT.prompt_id, 2)
    assert crowned.champion_id == ROOT.prompt_id and states(crowned) == [
        "champion",
        "retired",
        "candidate",
        "accepted",
    ]
    assert states(crowned.with_champion(child(2).prompt_id, 2)) == [
        "retired",
        "retired",
        "candidate",
        "champion",
    ]
    assert states(crowned.with_champion(ROOT.prompt_id, 2)) == states(crowned)


def test_a_blocked_prompt_stays_in_the_tables_and_takes_no_part() -> None:
    result = population(3).rated({child(2).prompt_id: (30.0, 1.0)}).blocked([child(2).prompt_id]).in_window(2)
    assert states(result) == ["retired", "candidate", "candidate", "blocked"]
    assert [entrant.number for entrant in result.entrants()] == [0, 1, 2] and result.best_id() == child(
        1
    ).prompt_id
    assert child(2).texts in result.known()
    with pytest.raises(KeyError):
        result.blocked(["nobody"])


def test_tables_give_the_population_back_in_order_of_birth() -> None:
    result = population(3).with_values(alpha=1)
    frames = result.frames()
    again = population_of({**frames, "prompts": frames["prompts"].sample(fraction=1.0, shuffle=True, seed=2)})
    assert all(again.frames()[name].equals(frame) for name, frame in frames.items())
