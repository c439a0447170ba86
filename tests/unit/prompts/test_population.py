"""The population: founding, children, ratings, states, the champion, and its tables."""

import pytest

from evolake.prompts.evolution.population import Birth, Population, found_population, population_of
from evolake.prompts.model.prompt import SystemPrompt, prompt_of

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


def test_states_follow_the_window_and_the_champion_reigns_on():
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


def test_a_blocked_prompt_stays_in_the_tables_and_takes_no_part():
    result = population(3).rated({child(2).prompt_id: (30.0, 1.0)}).blocked([child(2).prompt_id]).in_window(2)
    assert states(result) == ["retired", "candidate", "candidate", "blocked"]
    assert [entrant.number for entrant in result.entrants()] == [0, 1, 2] and result.best_id() == child(
        1
    ).prompt_id
    assert child(2).texts in result.known()
    with pytest.raises(KeyError):
        result.blocked(["nobody"])


def test_tables_give_the_population_back_in_order_of_birth():
    result = population(3).with_values(alpha=1)
    frames = result.frames()
    again = population_of({**frames, "prompts": frames["prompts"].sample(fraction=1.0, shuffle=True, seed=2)})
    assert all(again.frames()[name].equals(frame) for name, frame in frames.items())
