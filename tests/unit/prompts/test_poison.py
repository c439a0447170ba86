"""Poisoned replies on the prompts line: a reply is wrong, a child is blocked, a reproduction has no child;
the iteration goes on."""

import json
from typing import Any

import pytest
from prompts_fixtures import PROBLEMS, SEEDS, SIZES, Adder, iterate, operators, problem

from evolake.errors import BudgetExhausted
from evolake.gates import load_rules
from evolake.prompts import gates as judging
from evolake.prompts.evolution import iteration
from evolake.prompts.evolution.iteration import TABLES
from evolake.prompts.evolution.population import Birth, found_population
from evolake.prompts.gates import Newborn, evidence_bytes, run_gates
from evolake.prompts.model import scoring
from evolake.prompts.model.library import load_roots
from evolake.prompts.model.prompt import Hunk, Limits, apply, prompt_of
from evolake.prompts.model.protocol import Problem
from evolake.prompts.model.scoring import Judgement, judge_reply

RULES = load_rules(SEEDS.parent / "rules", "prompts")
ROOT = load_roots(SEEDS)["plain"]
LONG = "7" * 4200 + "e999"
REPLIES = (
    f'\\boxed{{{{"{LONG}": 1, "b": 2}}}}',
    f"\\boxed{{{LONG}}}",
    f"\\boxed{{1{'0' * 400}/3}}",
    "\\boxed{1e999999999}",
    "\\boxed{" * 5000,
    "\\boxed{NaN}",
    "\\boxed{[" + "[" * 5000 + "}",
    "7" * 50_000,
    "1,111" * 20_000 + "a",
    "a-" * 40_000,
    "\0" * 999,
    "\ud800 7",
    "\u202e7",
    "\\text{" * 9000,
    "'" * 9999,
    "\\boxed{" + "{'a':" * 100 + "}" * 100 + "}",
)
LABELS: tuple[Any, ...] = (
    7,
    0.5,
    "tiger",
    [1, 2],
    {"7": 1, "b": 2},
    {LONG: 1, "b": 2},
    f"1{'0' * 400}/3",
    True,
    "7" * 4300,
)


@pytest.mark.parametrize("label", LABELS, ids=lambda item: str(item)[:20])
def test_a_reply_of_any_kind_is_judged(label):
    asked = Problem("p", "text", json.dumps(label), False, "kind", 1, "train", "test", "p")
    for reply in REPLIES:
        for form in ("boxed", "last"):
            result = judge_reply(reply, asked, form)
            assert isinstance(result, Judgement) and result.correct in (True, False)


def test_a_reply_on_which_our_code_raises_gives_no_answer(monkeypatch):
    def poisoned(*_: Any, **__: Any) -> bool:
        raise OverflowError("10^400/3")

    monkeypatch.setattr(scoring, "answers", poisoned)
    asked = Problem("p", "text", "7", False, "kind", 1, "train", "test", "p")
    assert judge_reply("\\boxed{7}", asked, "boxed") == Judgement(None, False, False)


@pytest.mark.parametrize("which", ["mutate", "cross"])
def test_a_reproduction_on_which_our_code_raises_has_no_child_and_a_row_that_says_why(which, monkeypatch):
    def poisoned(*_: Any, **__: Any) -> Any:
        raise RecursionError("too deep")

    monkeypatch.setattr(iteration, which, poisoned)
    population = found_population({"plain": ROOT, "other": prompt_of(["Count twice."])}, "0001")
    with operators() as agents:
        done = iterate(
            population,
            Adder(),
            agents=agents,
            settings=SIZES.model_copy(update={"crossover": 1.0}),
            arm="espl",
        )
    frames = done.frames()
    assert set(frames) == set(TABLES)
    reasons = frames["edits"].filter(step="child")["reason"].to_list()
    assert any("RecursionError" in reason for reason in reasons)


def test_a_spent_budget_is_no_childs_fault(monkeypatch):
    def spent(*_: Any, **__: Any) -> Any:
        raise BudgetExhausted("the budget is spent")

    monkeypatch.setattr(iteration, "mutate", spent)
    with operators() as agents, pytest.raises(BudgetExhausted):
        iterate(found_population({"plain": ROOT}, "0001"), Adder(), agents=agents, arm="espl")


def child() -> tuple[dict[str, Any], Any]:
    population = found_population({"root": ROOT}, "0000")
    grown = population.with_child(
        apply(ROOT, [Hunk("add", text="Check the sum.")]).prompt,
        {ROOT.prompt_id: 1.0},
        (25.0, 8.0),
        Birth("mutation", "0001", 1, "model"),
    )
    return grown.rows()[-1], grown


@pytest.mark.parametrize(("poison", "gates"), [("copies", {"leak"}), ("from_json", {"form", "leak"})])
def test_a_child_on_which_our_code_raises_is_blocked_and_stored(poison, gates, monkeypatch):
    row, population = child()

    def poisoned(*_: Any, **__: Any) -> Any:
        raise ValueError("a number of 5,000 digits")

    monkeypatch.setattr(judging, poison, poisoned)
    posed = [{"text": item.text, "split": item.split} for item in PROBLEMS]
    results = run_gates(Newborn(row, population, [], posed), RULES, cycle="0001", run_id="run")
    assert not results.accepted and results.blocked_by is not None
    assert {gate for gate, seen in results.seen.items() if "ValueError" in seen.get("raised", "")} == gates
    assert b"ValueError" in evidence_bytes(results.seen)


def test_edits_of_any_text_are_applied_or_refused():
    limits = Limits(problems=(problem(1).text, "x " * 2000))
    for text in (*REPLIES, "x" * 900, " ", "\n" * 99, "p1", "İ" * 300, "[p1]" * 99):
        for hunk in (
            Hunk("add", text=text),
            Hunk("modify", ("p1",), text, old=text),
            Hunk("merge", ("p1", text), text),
            Hunk("drop", (text,)),
        ):
            done = apply(prompt_of(["Work in small steps.", "State the answer."]), [hunk, hunk], limits)
            assert len(done.outcomes) == 2 and done.prompt.prompt_id
