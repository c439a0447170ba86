"""What runs spent on a model, and what the budget leaves, in one sentence."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from evolake.agents.budget import Budget
from evolake.agents.call_cache import CallCache
from evolake.agents.calls import Usage
from evolake.settings import Settings


def spent_sentence(
    settings: Settings, lake_root: Path, cycles: Mapping[str, Sequence[str]], runs: Sequence[str]
) -> str:
    """Return calls, tokens and usd of `runs` together, as their accounts say, and what is left of each limit
    where most was spent.

    Args:
        settings: name the backend, the prices and the limits. cycles: line -> cycles that the runs were of.
    """
    call_cache = CallCache(Path(lake_root) / "tape")
    of_runs = [_budget(settings, call_cache, run_id=run).spent()[1] for run in runs]
    of_cycles = [
        _budget(settings, call_cache, line=line, cycle=cycle).spent()[0]
        for line, of_line in cycles.items()
        for cycle in of_line
    ]
    total = sum(of_runs, Usage())
    if settings.backend != "model" and not total.calls:
        return "model: not asked (operators made everything); 0 calls, 0 tokens, 0 usd"
    unpriced = sorted({model for model in settings.models.values() if model not in settings.prices})
    usd = f"usd unknown (no price of {', '.join(unpriced)})" if unpriced else f"{total.usd:.4f} usd"
    spent = {"run": of_runs, "cycle": of_cycles}
    left = [_left(settings, unit, scope, spent[scope]) for scope in spent for unit in ("tokens", "usd")]
    summary = ", ".join(filter(None, left)) or (
        "nothing is asked under replay only" if settings.replay_only else "no limit"
    )
    return f"model: {total.calls:,} calls paid, {total.tokens:,} tokens, {usd}; budget left: {summary}"


def _budget(
    settings: Settings,
    call_cache: CallCache,
    *,
    line: str = "none",
    cycle: str = "none",
    run_id: str = "none",
) -> Budget:
    return Budget(settings.budget, call_cache, line=line, cycle=cycle, run_id=run_id)


def _left(settings: Settings, unit: str, scope: str, spent: Iterable[Usage]) -> str:
    limit = getattr(settings.budget, f"{unit}_per_{scope}")
    if limit is None:
        return ""
    left = max(0, limit - max((getattr(item, unit) for item in spent), default=0))
    return (
        f"{left:,} of {limit:,} tokens per {scope}"
        if unit == "tokens"
        else f"{left:.4f} of {limit:g} usd per {scope}"
    )
