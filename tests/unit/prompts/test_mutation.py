"""Mutation in its four steps, and crossover, on the operators backend."""

from typing import Any

from prompts_fixtures import judge, library, operators, problem

from evolake.agents import Agents
from evolake.prompts.edit_memory import Editing, Evidence, Reproduction
from evolake.prompts.model.prompt import prompt_of
from evolake.prompts.model.protocol import Rollout, Sample
from evolake.prompts.reproduction import mutate

PROMPT = prompt_of(["Be kind."])


RIGHT, BURIED, CUT = "The sum is {}", "It is {} I think", "Let me think"


def rollout(number: int, place: int, text: str, *, truncated: bool = False) -> Rollout:
    """Of sum `number`; `{}` in the text is the right answer."""
    reply = text.format(2 * number + 3)
    return judge(PROMPT, problem(number), place, Sample(reply, 4, truncated))


def evidence(number: int, *texts: str) -> Evidence:
    return Evidence(
        problem(number),
        tuple(rollout(number, place, text, truncated=text == CUT) for place, text in enumerate(texts)),
    )


def mutation(agents: Agents, *shown: Evidence, **more: Any) -> Reproduction:
    own = {name: more.pop(name) for name in vars(editing(agents)) if name in more}
    return mutate(editing(agents, **own), PROMPT, shown, **more)


def editing(agents: Agents, **more: Any) -> Editing:
    return Editing(agents, **({"library": library(), "cycle": "0001", "iteration": 1, "root_seed": 4} | more))


def test_a_problem_proposes_no_more_than_the_limit():
    with operators() as agents:
        made = mutation(
            agents, evidence(1, RIGHT, BURIED, CUT), evidence(2, RIGHT, BURIED, CUT), edits_per_problem=1
        )
    assert [item.hunk.problem_id for step, item in made.hunks if step == "local"] == ["sum-1", "sum-2"]
