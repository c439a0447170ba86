"""Forecast what a cycle by a model will cost: calls, tokens and US dollars, at most and probably, and which
limit of the budget stops it first.

How often each role is asked follows from the settings and from what the lake has sealed, and each line says
it (`LineSpec.model_calls`). What is probable comes from the line's finished cycles, if the lake has any:
their calls of each role, in proportion to what the settings say, and the mean tokens of a call. Else it comes
from the settings and the sizes of the prompts. All tokens are estimates; only a budget is a limit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import ceil
from pathlib import Path
from statistics import fmean
from typing import Any

from evolake.agents.budget import Budget
from evolake.agents.call_cache import CallCache
from evolake.agents.calls import Usage
from evolake.agents.prices import Counts, price_usd
from evolake.agents.prompts import load_prompt, schema_rule
from evolake.agents.roles import Role
from evolake.agents.sampling import sampling_of
from evolake.canonical_json import canonical_json
from evolake.errors import InputError
from evolake.lake import Lake, following
from evolake.lake.added_seeds import SeedItem, newest_state, state_of, waiting
from evolake.lake.schemas import ENTERED
from evolake.lines import LineSpec, lines
from evolake.settings import Settings

TYPICAL_DATA, TYPICAL_REPLY = 1500, 800
"""Tokens that a request holds in addition to its prompt file, and of a reply, if neither a line nor earlier
cycles say it."""
TYPICAL_TURNS = 8
"""Turns of a session, if no earlier cycle says it."""


@dataclass(frozen=True)
class RoleCalls:
    """How often one cycle asks a role.

    Attributes:
        role: a role with tools is a session, whose turns are calls.
        most: requests that the settings allow. likely: requests that a cycle probably makes.
        data: tokens that a request probably holds in addition to its prompt file. reply: tokens of a probable
            reply.
        longest: tokens of the longest reply, if they differ from `EVOLAKE_MODEL_MAX_OUTPUT_TOKENS`.
        repairs: whether a reply that does not fit is asked for again.
        file: whether it has a prompt file. always: whether a model is asked whatever the backend is.
    """

    role: Role[Any, Any]
    most: int
    likely: float
    data: int = TYPICAL_DATA
    reply: int = TYPICAL_REPLY
    longest: int | None = None
    repairs: bool = True
    file: bool = True
    always: bool = False


@dataclass(frozen=True)
class Start:
    """What a cycle starts from.

    Attributes:
        first: whether the line has finished no cycle. begun: whether its seeds are sealed. state: values of
            the sealed population's state, {} before. past: whether the cycle is done, with its seeds.
    """

    first: bool = True
    begun: bool = False
    state: Mapping[str, Any] = field(default_factory=dict[str, Any])
    past: bool = False

    def new_seeds(self, items: Callable[[], Iterable[SeedItem]], ruleset_hash: str) -> list[SeedItem]:
        """Return the seeds that are judged before the cycle's own candidates."""
        return [] if self.past else waiting(items(), self.state.get(ENTERED, {}), ruleset_hash)


def asked(calls: Iterable[RoleCalls]) -> list[RoleCalls]:
    """Return those that are asked at all."""
    return [item for item in calls if item.most > 0]


FIRST = "0001"
CYCLES_READ = 5
"""Finished cycles that count, the newest ones."""
REPAIRED = 0.1
"""Share of replies that probably need a repair, until a lake says otherwise."""
LARGER = 4
"""The largest request is taken to be so many times the probable one: prompts grow with what a lake holds."""
CHARACTERS_A_TOKEN = 4
HISTORY = """
SELECT line, cycle, role, count(*) AS calls, avg(input_tokens) AS input, avg(output_tokens) AS output,
  max(input_tokens) AS largest, avg(coalesce(cached_tokens, 0)) AS cached
FROM calls WHERE backend = 'model' GROUP BY ALL"""


@dataclass(frozen=True)
class RoleForecast:
    """What one cycle asks of one role. usd is None if the model has no price. cached_likely: those of the
    probable tokens that a cache of the endpoint serves, as in earlier cycles."""

    role: str
    model: str
    calls_most: int
    calls_likely: float
    tokens_most: int
    tokens_likely: int
    usd_most: float | None
    usd_likely: float | None
    cached_likely: int = 0


@dataclass(frozen=True)
class Limit:
    """A limit of the budget, compared with a cycle. setting: its variable. left: of `limit`. reached: never,
    at most or probably."""

    setting: str
    unit: str
    limit: float
    left: float
    reached: str


@dataclass(frozen=True)
class LineForecast:
    """One cycle of a line; of a study the whole, with cycle "". cycles: finished ones that the probable
    numbers come from. limits: of the budget, the first to stop the cycle first."""

    line: str
    cycle: str
    rows: tuple[RoleForecast, ...] = ()
    cycles: tuple[str, ...] = ()
    limits: tuple[Limit, ...] = ()

    @cached_property
    def total(self) -> RoleForecast:
        """All roles together."""
        return total_of(self.rows)

    @property
    def stops(self) -> str:
        """Which limit stops the cycle, in one sentence."""
        if not self.rows:
            return "no model is called"
        if not self.limits:
            return "no budget is set: the settings alone bound it"
        first = self.limits[0]
        left = f"{first.left:,.0f} tokens" if first.unit == "tokens" else f"{first.left:.2f} usd"
        ends = {
            "probably": "probably stops it",
            "at most": "stops it if it takes far more than is probable",
            "never": "is not reached",
        }
        return f"{first.setting} leaves {left} and {ends[first.reached]}"

    def to_json(self) -> dict[str, Any]:
        """Return the values of JSON."""
        return {
            "line": self.line,
            "cycle": self.cycle,
            "from_cycles": list(self.cycles),
            "roles": [vars(row) for row in self.rows],
            "total": {
                name: value for name, value in vars(self.total).items() if name not in ("role", "model")
            },
            "stops": self.stops,
            "limits": [vars(limit) for limit in self.limits],
        }


@dataclass(frozen=True)
class _Spent:
    """What finished cycles of a line spent on a role. calls: cycle -> how many."""

    calls: Mapping[str, int] = field(default_factory=dict[str, int])
    input: float | None = None
    output: float | None = None
    largest: int | None = None
    cached: float = 0.0


def forecasts(settings: Settings, lake_root: Path, names: Iterable[str] = ()) -> list[LineForecast]:
    """Return a forecast of the next cycle of each line.

    Args:
        names: of lines and studies; none: every line that evolves by cycles.

    Raises:
        InputError: there is no such line. CorruptPart, LakeError: the calls in the lake cannot be read.
    """
    known = lines()
    chosen = list(names) or [
        name for name, spec in known.items() if spec.model_calls is not None and spec.findings is None
    ]
    if unknown := [name for name in chosen if name not in known]:
        raise InputError(
            f"there is no line {unknown[0]!r}",
            wanted=f"some of: {', '.join(known)}",
            do="see: evolake status",
        )
    lake = Lake(lake_root)
    rows = _history_rows(lake) if any(lake.seals.cycles(name)[1:] for name in chosen) else []
    return [_line_forecast(settings, lake, known[name], rows) for name in chosen]


def total_of(rows: Sequence[RoleForecast]) -> RoleForecast:
    """Return the sum of some rows."""

    def usd(values: Sequence[float | None]) -> float | None:
        known = [value for value in values if value is not None]
        return sum(known) if len(known) == len(values) else None

    return RoleForecast(
        "all",
        "",
        sum(row.calls_most for row in rows),
        sum(row.calls_likely for row in rows),
        sum(row.tokens_most for row in rows),
        sum(row.tokens_likely for row in rows),
        usd([row.usd_most for row in rows]),
        usd([row.usd_likely for row in rows]),
        sum(row.cached_likely for row in rows),
    )


def forecast_sentence(of_lines: Sequence[LineForecast]) -> str:
    """Return what a cycle of these lines will take, in one line; "" if no model is called."""
    asking = [item for item in of_lines if item.rows]
    if not asking:
        return ""
    total = total_of([item.total for item in asking])
    usd = "usd unknown" if total.usd_likely is None else f"{total.usd_likely:.2f} usd"
    cached = f" ({total.cached_likely:,} of them cached)" if total.cached_likely else ""
    each = ", ".join(f"{item.line} {round(item.total.calls_likely):,}" for item in asking)
    stopping = next((item for item in asking if item.limits and item.limits[0].reached != "never"), asking[0])
    return (
        f"forecast of a cycle: probably {round(total.calls_likely):,} calls ({each}), "
        f"{total.tokens_likely:,} tokens{cached}, {usd}; at most {total.calls_most:,} calls; "
        f"{stopping.line}: {stopping.stops}"
    )


def _history_rows(lake: Lake) -> list[dict[str, Any]]:
    """Return the calls of the lake by line, cycle and role."""
    from evolake.lake import Catalogue

    with Catalogue(lake, shared_only=True) as catalogue:
        return catalogue.frame(HISTORY).to_dicts()


def _line_forecast(
    settings: Settings, lake: Lake, spec: LineSpec, rows: Sequence[Mapping[str, Any]]
) -> LineForecast:
    sealed = lake.seals.cycles(spec.name)
    finished = [cycle for cycle in sealed if following(cycle) in sealed][-CYCLES_READ:]
    cycle = sealed[-1] if sealed else FIRST
    if spec.model_calls is None:
        return LineForecast(spec.name, cycle)
    own = [row for row in rows if row["line"] == spec.name and row["cycle"] in finished]
    used = tuple(name for name in finished if any(row["cycle"] == name for row in own))
    start = Start(not finished, bool(sealed), newest_state(lake, spec.name))
    asked_now = _by_role(spec, settings, start)
    wanted = [item for item in asked_now.values() if settings.backend == "model" or item.always]
    before = {
        name: {
            role: item.likely
            for role, item in _by_role(
                spec, settings, Start(name == FIRST, True, state_of(lake, spec.name, name), past=True)
            ).items()
        }
        for name in used
    }
    forecast = [_role_forecast(settings, item, _spent_on(own, item.role.name), before) for item in wanted]
    total = total_of(forecast)
    shown = "" if spec.findings else cycle
    return LineForecast(
        spec.name,
        shown,
        tuple(forecast),
        used,
        tuple(_limits(settings, lake, spec.name, cycle, total)) if forecast else (),
    )


def _by_role(spec: LineSpec, settings: Settings, start: Start) -> dict[str, RoleCalls]:
    assert spec.model_calls is not None
    return {item.role.name: item for item in spec.model_calls.load()(settings, start)}


def _spent_on(rows: Sequence[Mapping[str, Any]], role: str) -> _Spent:
    own = [row for row in rows if row["role"] == role]
    counted = [row for row in own if row["input"] is not None and row["output"] is not None]
    if not counted:
        return _Spent({row["cycle"]: row["calls"] for row in own})
    calls = sum(row["calls"] for row in counted)
    input_, output, cached = (
        sum(row[name] * row["calls"] for row in counted) / calls for name in ("input", "output", "cached")
    )
    largest = max(row["largest"] for row in counted)
    return _Spent({row["cycle"]: row["calls"] for row in own}, input_, output, largest, cached)


def _role_forecast(
    settings: Settings, item: RoleCalls, spent: _Spent, before: Mapping[str, Mapping[str, float]]
) -> RoleForecast:
    name, session = item.role.name, settings.agents.session
    repairs = settings.model_repairs * item.repairs
    most = item.most * (session.turns if item.role.tools else 1 + repairs)
    likely = item.likely * (
        min(TYPICAL_TURNS, session.turns) if item.role.tools else 1 + REPAIRED * item.repairs
    )
    if spent.calls:  # a cycle in which the role was not asked counts, too
        rates = [
            spent.calls.get(cycle, 0) / roles[name] for cycle, roles in before.items() if roles.get(name)
        ]
        likely = item.likely * fmean(rates) if rates else likely
    likely = min(likely, float(most))
    model = settings.models.get(name) or settings.models.get("default") or "none"
    longest = item.longest or sampling_of(settings, name).max_output_tokens
    input_ = (
        spent.input if spent.input is not None else item.data + (prompt_tokens(item.role) if item.file else 0)
    )
    output = min(spent.output if spent.output is not None else item.reply, longest)
    # a reply that ran into the limit may be twice as long in what follows
    longest *= item.most * (2 * session.turns if item.role.tools else 1 + 2 * repairs)
    largest = max(LARGER * input_, spent.largest or 0)
    price, cached = settings.prices.get(model), int(likely * spent.cached)
    return RoleForecast(
        name,
        model,
        most,
        round(likely, 1),
        ceil(most * largest + longest),
        ceil(likely * (input_ + output)),
        price_usd(price, Counts(ceil(most * largest), ceil(longest))),
        price_usd(price, Counts(ceil(likely * input_), ceil(likely * output), cached)),
        cached,
    )


def prompt_tokens(role: Role[Any, Any]) -> int:
    """Return the tokens of a role's prompt file and of the form of its reply, an estimate."""
    form = (
        canonical_json([dict(tool) for tool in role.tools])
        if role.tools
        else schema_rule(role.reply.model_json_schema())
    )
    return (len(load_prompt(role.prompt or role.name)) + len(form)) // CHARACTERS_A_TOKEN


def _limits(settings: Settings, lake: Lake, line: str, cycle: str, total: RoleForecast) -> list[Limit]:
    """Return the limits of the budget, the one that stops a cycle first first. A run takes one cycle of a
    line."""
    budget = Budget(settings.budget, CallCache(lake.root / "tape"), line=line, cycle=cycle, run_id="forecast")
    of_cycle, result = budget.spent()[0], []
    for scope, spent in (("cycle", of_cycle), ("run", Usage())):
        for unit, most, likely in (
            ("tokens", total.tokens_most, total.tokens_likely),
            ("usd", total.usd_most, total.usd_likely),
        ):
            limit = getattr(settings.budget, f"{unit}_per_{scope}")
            if limit is None or most is None or likely is None:
                continue
            left = max(0, limit - getattr(spent, unit))
            if likely > left:
                reached = "probably"
            elif most > left:
                reached = "at most"
            else:
                reached = "never"
            setting = f"EVOLAKE_BUDGET__{unit.upper()}_PER_{scope.upper()}"
            result.append((most / left if left else float("inf"), Limit(setting, unit, limit, left, reached)))
    return [limit for _, limit in sorted(result, key=lambda pair: -pair[0])]
