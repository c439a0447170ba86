"""The budget: dollars and tokens, a cycle and a run, looked at before each call; and what runs spent, in one
sentence.

Reserve, then book. Before a call its estimate (the prompt's tokens from above, plus the largest reply this
role and model have given so far in this process) is reserved; after it the true cost takes the reservation's
place. A call that does not fit only because of what others have reserved waits for them. A call that does not
fit what is left is refused with `BudgetExhausted`. A reply that turns out larger than its estimate is kept
and counted, so a budget can be overshot by at most what was in flight when it ran out.

What was spent outlives the process: every paid attempt is a line in the account of its cycle and in that of
its run, under `<lake>/tape/accounts/`. Another step of the same run, or a second run of the same cycle,
starts from there. Reservations are per process.
"""

from __future__ import annotations

import contextlib
import json
import math
import os
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evolake.agents.call_cache import CallCache
from evolake.agents.calls import Usage
from evolake.errors import BudgetExhausted, LakeError
from evolake.file_names import file_name
from evolake.settings import BudgetSettings, Settings


class Account:
    """An append-only file of what was spent: one JSON object a line, each attempt once by its key. Torn lines
    are passed over."""

    def __init__(self, path: Path):
        self.path = path
        self.total = Usage()
        self._keys: set[str] = set()
        self._read_to = 0

    def refresh(self) -> None:
        """Take in what other processes have added."""
        try:
            with self.path.open("rb") as file:
                file.seek(self._read_to)
                fresh = file.read()
        except FileNotFoundError:
            return
        except OSError as error:
            raise self._unusable("read", error) from None
        end = fresh.rfind(b"\n") + 1
        self._read_to += end
        for line in fresh[:end].splitlines():
            with contextlib.suppress(ValueError, KeyError, TypeError, RecursionError):
                self._add(*_spent(json.loads(line)))

    def add(self, key: str, usage: Usage) -> None:
        """Append one attempt, unless it is there already; on return it is on disk."""
        self.refresh()
        if key in self._keys:
            return
        line = json.dumps({"key": key, "tokens": usage.tokens, "usd": usage.usd, "cached": usage.cached})
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            handle = os.open(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
            try:
                os.write(handle, f"\n{line}\n".encode())
                os.fsync(handle)
            finally:
                os.close(handle)
        except OSError as error:
            raise self._unusable("written", error) from None
        self.refresh()

    def _unusable(self, what: str, error: OSError) -> LakeError:
        return LakeError(
            f"the account of what was spent cannot be {what}",
            wanted=f"a file at {self.path} that this user may read and write",
            got=error.strerror or str(error),
            do="free space or fix the permissions, then run again; what was paid for replays at no cost",
        )

    def _add(self, key: str, usage: Usage) -> None:
        if key not in self._keys:
            self._keys.add(key)
            self.total += usage


def _spent(line: Any) -> tuple[str, Usage]:
    """Key and usage of a line. Raises ValueError, KeyError or TypeError for one that is none: a negative sum
    would make room for nothing paid."""
    tokens, usd, cached = line["tokens"], float(line["usd"]), line.get("cached", 0)
    if (
        any(type(count) is not int or not 0 <= count < 2**53 for count in (tokens, cached))
        or not 0 <= usd < math.inf
        or not isinstance(line["key"], str)
    ):
        raise ValueError("no account of a call")
    return line["key"], Usage(1, tokens, usd, cached)


@dataclass
class Reservation:
    """Room held for one call; `spent` becomes what the call took."""

    estimate: Usage
    spent: Usage | None = None
    key: str = ""

    def book(self, key: str, usage: Usage) -> None:
        """Say what the call took. Without it the reservation is given back whole."""
        self.key, self.spent = key, usage


class Budget:
    """The limits of one cycle of a line and of one run. Safe under threads. The accounts are next to the
    entries of the call cache."""

    def __init__(self, limits: BudgetSettings, call_cache: CallCache, *, line: str, cycle: str, run_id: str):
        folder = call_cache.root / "accounts"
        self.limits = limits
        self._cycle = Account(folder / f"cycle-{file_name(line)}-{file_name(cycle, '.jsonl')}")
        self._run = Account(folder / f"run-{file_name(run_id, '.jsonl')}")
        self._reserved: list[Usage] = []
        self._changed = threading.Condition()

    @contextmanager
    def reserve(self, estimate: Usage) -> Iterator[Reservation]:
        """Hold room for one call; on leaving, what was spent is booked, also when an exception passes.

        Raises:
            BudgetExhausted: the call does not fit what is left of one of the limits.
        """
        with self._changed:
            while self._refusal(sum(self._reserved, estimate)) is not None:
                if (refusal := self._refusal(estimate)) is not None:
                    raise refusal
                self._changed.wait()
            self._reserved.append(estimate)
        reservation = Reservation(estimate)
        try:
            yield reservation
        finally:
            with self._changed:
                self._reserved.remove(estimate)
                try:
                    if reservation.spent is not None:
                        self._book(reservation.key, reservation.spent)
                finally:
                    self._changed.notify_all()

    def charge(self, key: str, usage: Usage) -> BudgetExhausted | None:
        """Book what was spent outside of a reservation. Return the refusal of whatever would come now, where
        a limit is reached."""
        with self._changed:
            self._book(key, usage)
            return self._refusal(usage)

    def book_cycle(self, key: str, usage: Usage) -> None:
        """Book an attempt of this cycle that is in the call cache but not in the account (a crash came
        between). A no-op otherwise."""
        with self._changed:
            self._cycle.add(key, usage)

    def spent(self) -> tuple[Usage, Usage]:
        """Return what this cycle and this run have spent so far, all processes together."""
        with self._changed:
            return self._totals()

    def _totals(self) -> tuple[Usage, Usage]:
        self._cycle.refresh()
        self._run.refresh()
        return self._cycle.total, self._run.total

    def _book(self, key: str, usage: Usage) -> None:
        self._cycle.add(key, usage)
        self._run.add(key, usage)

    def _refusal(self, more: Usage) -> BudgetExhausted | None:
        of_cycle, of_run = self._totals()
        for scope, spent, usd, tokens in (
            ("cycle", of_cycle, self.limits.usd_per_cycle, self.limits.tokens_per_cycle),
            ("run", of_run, self.limits.usd_per_run, self.limits.tokens_per_run),
        ):
            wanted = spent + more
            if usd is not None and wanted.usd > usd:
                return _exhausted("usd", scope, usd, spent.usd, more.usd)
            if tokens is not None and wanted.tokens > tokens:
                return _exhausted("tokens", scope, tokens, spent.tokens, more.tokens)
        return None


def _exhausted(unit: str, scope: str, limit: float, spent: float, estimate: float) -> BudgetExhausted:
    return BudgetExhausted(
        f"the next model call would pass the budget of {limit:g} {unit} per {scope}",
        wanted=f"room for about {estimate:g} {unit}",
        got=f"{spent:g} of {limit:g} {unit} spent",
        do=(
            f"raise EVOLAKE_BUDGET__{unit.upper()}_PER_{scope.upper()} and run the cycle again; what was "
            "paid for replays at no cost"
        ),
    )


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
    cached = f" ({total.cached:,} of them cached)" if total.cached else ""
    return (
        f"model: {total.calls:,} calls paid, {total.tokens:,} tokens{cached}, {usd}; budget left: {summary}"
    )


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
