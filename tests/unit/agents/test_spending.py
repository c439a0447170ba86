"""The last line of a run: what a model was asked, what it took, what is left."""

from pathlib import Path

import pytest

from evolake.agents.budget import Budget, spent_sentence
from evolake.agents.call_cache import CallCache
from evolake.agents.calls import Usage
from evolake.settings import BudgetSettings, PriceSettings, Settings

PRICES = {"m": PriceSettings(input=1, output=2)}


@pytest.fixture
def lake(tmp_path) -> Path:
    """Three calls of two runs of two cycles of a line; one of them lost."""
    for cycle, run, key, tokens, usd in (
        ("0001", "r1", "a", 1000, 0.25),
        ("0001", "r1", "a/lost/1", 500, 0.1),
        ("0002", "r2", "b", 200, 0.05),
    ):
        Budget(
            BudgetSettings(), CallCache(tmp_path / "tape"), line="designs", cycle=cycle, run_id=run
        ).charge(key, Usage(1, tokens, usd))
    return tmp_path


def sentence(
    lake: Path, budget: BudgetSettings, *, runs: tuple[str, ...] = ("r1", "r2"), **changes: object
) -> str:
    settings = Settings(
        **({"backend": "model", "models": {"default": "m"}, "prices": PRICES, "budget": budget} | changes)
    )  # type: ignore[arg-type]
    return spent_sentence(settings, lake, {"designs": ["0001", "0002"]}, runs)


def test_it_says_calls_tokens_usd_and_what_is_left_where_most_was_spent(lake):
    every = BudgetSettings(tokens_per_run=2000, usd_per_run=1, tokens_per_cycle=1400, usd_per_cycle=5)
    assert sentence(lake, every) == (
        "model: 3 calls paid, 1,700 tokens, 0.4000 usd; budget left: 500 of 2,000 tokens per run, 0.6500 "
        "of 1 usd per run, 0 of 1,400 tokens per cycle, 4.6500 of 5 usd per cycle"
    )


def test_operators_say_that_no_model_was_asked(lake):
    said = sentence(lake, BudgetSettings(), backend="operators", runs=("r3",))
    assert said == "model: not asked (operators made everything); 0 calls, 0 tokens, 0 usd"


def test_it_says_how_many_tokens_a_cache_of_the_endpoint_served(lake):
    of_run = Budget(BudgetSettings(), CallCache(lake / "tape"), line="designs", cycle="0002", run_id="r2")
    of_run.charge("c", Usage(1, 100, 0.01, 60))
    assert "4 calls paid, 1,800 tokens (60 of them cached), 0.4100 usd" in sentence(lake, BudgetSettings())
    of_run._run.path.open("a").write('{"key": "d", "tokens": 5, "usd": 0.0, "cached": -5}\n')
    assert "4 calls paid, 1,800 tokens (60 of them" in sentence(lake, BudgetSettings())
