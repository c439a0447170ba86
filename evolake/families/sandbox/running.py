"""Run families in the jail, from the host's side: instances, answers, readings, checkers. One jail call per
source, many instances per call; calls and seconds are counted by gate, since rejected families cost too.

What comes back is the candidate's word: the driver shares its process. So a reply is checked for its form
here, piece by piece, what can be known without it (types, times, sizes) is computed here, and the rest says
only what the candidate's own program could have said as well:

    inputs, slots, answer, printed    the product itself; bounded in size, depth and number range
    status, reason                    a word of STATUSES and one line; a false one hides one item's failure,
                                      the limits of the call are the kernel's
    steps                             source lines: shown to people, and no gate decides by it (see
                                      `instances` for the one filter that uses it)

A dead jail raises MachineryError and is never a candidate's failure. Neither is a host that was too busy to
run a call (see `evolake.jail.patience`).

A checker runs as a validator whose answer is the list of its verdicts. One that raises an error on an answer
has rejected it; one that returns anything but True or False has no verdict.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any, TypeVar

from evolake.families.model.contract import Family, as_json
from evolake.families.model.statement import SLOT, fill, stated
from evolake.jail.patience import patiently, starved
from evolake.jail.protocol import one_line
from evolake.program_templates import fill_template

if TYPE_CHECKING:
    from evolake.jail import Limits, Outcome


PRELOAD = (
    "numpy",
    "evolake.families.sandbox.driver",
    "heapq",
    "itertools",
    "collections",
    "functools",
    "math",
    "statistics",
    "string",
    "bisect",
    "copy",
    "typing",
    "pysat.solvers",
)
"""What a pool should preload to run families quickly: `open_pool(preload=PRELOAD)`."""
DRIVER = "evolake.families.sandbox.driver"
MAX_STEPS = 500_000
MAX_STATEMENT = 1_000_000
MAX_DEPTH = 64
MAX_BITS = 14_000
"""Of what comes back from a candidate: characters of a statement, nesting, bits of an integer. More is not
taken apart on this side."""
OUTPUT_BYTES = 16_000_000
MAX_VALUES = 20_000
"""Lists, mappings and what they hold, in one value, which is compared, counted and written many times over; a
statement has a few thousand characters. MAX_TEXT: characters of all texts in it.
"""
MAX_TEXT = 200_000
MAX_SLOTS = 10_000
LONGEST_REASON = 500
STATUSES = frozenset(
    {
        "ok",
        "form",
        "error",
        "cpu",
        "steps",
        "schema_error",
        "protocol",
        "timeout",
        "memory",
        "output",
        "killed",
        "forbidden",
    }
)
"""Words for what came of one item: the driver's and the jail's."""
OF_THE_ITEM = frozenset({"ok", "form", "error", "schema_error"})
"""Those that the item alone decides, and no limit of its call."""
FOREIGN = "the reply is not that of the driver"
UNSOUND = "cannot be used: too large, nested too deep, or a number out of range"


@dataclass(frozen=True)
class Caps:
    """cpu_s: of one instance. call_s: of one call, all its instances together. memory_mb: of one call. steps:
    source lines of one counted answer."""

    cpu_s: float = 2.0
    call_s: float = 20.0
    memory_mb: int = 768
    steps: int = MAX_STEPS

    def limits(self) -> Limits:
        """Return the limits of one call in the jail."""
        from evolake.jail import Limits

        return Limits(
            cpu_s=self.call_s, wall_s=2 * self.call_s + 2, memory_mb=self.memory_mb, output_bytes=OUTPUT_BYTES
        )


@dataclass(frozen=True)
class Instance:
    """One instance. status: "ok", or why there is none (see Status of the jail; also "form": not what the
    contract says)."""

    difficulty: int
    seed: int
    status: str
    reason: str
    text: str
    inputs: Any
    slot_texts: tuple[str, ...]
    cpu_s: float

    @property
    def content(self) -> tuple[str, Any, tuple[str, ...]]:
        """What equal instances have in common; times are left out."""
        return self.status, self.inputs, self.slot_texts


@dataclass(frozen=True)
class Solved:
    """One answer of one validator. `type` is the answer's Python type here; `steps` is the candidate's word,
    None if nothing was counted. cpu_s: the call's time by the kernel, in equal shares. schema_error is a
    status.
    """

    status: str
    reason: str
    answer: Any
    type: str
    steps: int | None
    cpu_s: float

    @property
    def content(self) -> tuple[str, Any]:
        """Return (status, answer), by which two results are compared."""
        return self.status, self.answer


@dataclass(frozen=True)
class Reading:
    """What a reader made of a statement."""

    status: str
    reason: str
    inputs: Any


Done = TypeVar("Done", Instance, Solved)


def generate(
    family: Family,
    pairs: Sequence[tuple[int, int]],
    *,
    pool: Any,
    caps: Caps = Caps(),
    elsewhere: bool = False,
) -> list[Instance]:
    """Return instances for (difficulty, seed) pairs, in their order. elsewhere: in another time and zone, and
    with other orders of sets (sandbox.elsewhere).

    Raises MachineryError when the jail failed.
    """
    payload = {"pairs": [list(pair) for pair in pairs], "cap_s": caps.cpu_s} | (
        {"elsewhere": True} if elsewhere else {}
    )
    items = _items(pool, "generate", family.generator, payload, len(pairs), caps)
    template = stated(family)
    return [_instance(template, pair, item) for pair, item in zip(pairs, items, strict=True)]


def solve(
    source: str,
    inputs: Sequence[Any],
    *,
    pool: Any,
    caps: Caps = Caps(),
    count: bool = False,
    elsewhere: bool = False,
) -> list[Solved]:
    """Return answers of one validator. count: also count the source lines it runs (ten times slower).
    elsewhere: as for `generate`.

    Raises MachineryError when the jail failed.
    """
    payload = {
        "inputs": list(inputs),
        "cap_s": caps.cpu_s * (10 if count else 1),
        "max_steps": caps.steps if count else None,
    }
    payload |= {"elsewhere": True} if elsewhere else {}
    return [_solved(item) for item in _items(pool, "solve", source, payload, len(inputs), caps)]


def generate_parts(
    family: Family, parts: Sequence[Sequence[tuple[int, int]]], *, pool: Any, caps: Caps = Caps()
) -> list[list[Instance]]:
    """Return the instances of several lists of pairs, as `generate` gives them for each. See `_in_parts`."""
    return _in_parts(lambda pairs: generate(family, pairs, pool=pool, caps=caps), parts)


def solve_parts(
    source: str, parts: Sequence[Sequence[Any]], *, pool: Any, caps: Caps = Caps()
) -> list[list[Solved]]:
    """Return the answers to several lists of inputs, as `solve` gives them for each. See `_in_parts`."""
    return _in_parts(lambda inputs: solve(source, inputs, pool=pool, caps=caps), parts)


def _in_parts(
    work: Callable[[Sequence[Any]], list[Done]], parts: Sequence[Sequence[Any]]
) -> list[list[Done]]:
    """Return what `work` gives for each part, by one call for all of them if it can be: a call costs as much
    as many small answers.

    All parts are the work of one program, and gate 0 has seen that its answers do not depend on those before.
    Limits hold for a whole call, though: if anything in it came near one, each part has a separate call, so
    that no part suffers from another.
    """
    together = work([item for part in parts for item in part])
    if any(item.status not in OF_THE_ITEM for item in together):
        return [work(part) for part in parts]
    ends = list(accumulate(map(len, parts), initial=0))
    return [together[start:end] for start, end in pairwise(ends)]


def read(source: str, texts: Sequence[str], *, pool: Any, caps: Caps = Caps()) -> list[Reading]:
    """Return inputs that a reader finds in statements. Raises MachineryError."""
    items = _items(pool, "read", source, {"texts": list(texts), "cap_s": caps.cpu_s}, len(texts), caps)
    return [_reading(item) for item in items]


def called(pool: Any, driver: str, source: str, payload: dict[str, Any], caps: Caps) -> Outcome:
    """Run one call, and again if a busy host cut it off. Raises MachineryError, and HostBusy of a call that
    the host cut off every time."""
    return patiently(
        lambda stretch: pool.call(
            driver=driver, source=source, payload=payload, limits=replace(caps.limits(), stretch=stretch)
        ),
        starved,
        "a call of a family",
    )


def sound(value: Any) -> bool:
    """Return whether a value from a candidate's process can be handled without care: flat enough, finite, of
    bearable size. The driver sees to it, but runs where the candidate can change it.
    """
    waiting, values, characters = [(value, 0)], 0, 0
    while waiting:
        item, depth = waiting.pop()
        values += 1
        if isinstance(item, str):
            length = len(item)
        elif isinstance(item, dict):
            length = sum(map(len, item))
        else:
            length = 0
        characters += length
        if values > MAX_VALUES or characters > MAX_TEXT:
            return False
        if (
            depth > MAX_DEPTH
            or (isinstance(item, float) and not math.isfinite(item))
            or (isinstance(item, int) and item.bit_length() > MAX_BITS)
        ):
            return False
        if isinstance(item, list | dict):
            waiting.extend((part, depth + 1) for part in (item.values() if isinstance(item, dict) else item))
    return True


def _filled_length(template: str, slot_texts: Sequence[str]) -> int:
    numbers = [int(number) for number in SLOT.findall(template)]
    return len(template) + sum(
        len(slot_texts[number - 1]) for number in numbers if 1 <= number <= len(slot_texts)
    )


def _items(
    pool: Any, function: str, source: str, payload: dict[str, Any], wanted: int, caps: Caps
) -> list[dict[str, Any]]:
    """Return the items of one call, each with a known status, a short reason and its share of the call's time
    by the kernel; where the call failed as a whole, each item says so.
    """
    if not wanted:
        return []
    outcome = called(pool, f"{DRIVER}:{function}", source, payload, caps)
    share = {"cpu_s": outcome.cpu_s / wanted}
    if outcome.status != "ok":
        return [{"status": outcome.status, "reason": outcome.reason} | share] * wanted
    result = outcome.value
    if (
        not isinstance(result, list)
        or len(result) != wanted
        or not all(isinstance(item, dict) for item in result)
    ):
        return [{"status": "protocol", "reason": FOREIGN} | share] * wanted
    return [_stated(item) | share for item in result]


def _stated(item: dict[str, Any]) -> dict[str, Any]:
    """Return the item, its status one of STATUSES and its reason one line."""
    status, reason = item.get("status"), item.get("reason")
    if not isinstance(status, str) or status not in STATUSES or not isinstance(reason, str):
        return {"status": "protocol", "reason": FOREIGN}
    return item | {"reason": one_line(reason, LONGEST_REASON)}


def _instance(template: str, pair: tuple[int, int], item: dict[str, Any]) -> Instance:
    status, reason, slots = item["status"], item["reason"], item.get("slots")
    if status == "ok" and not (
        isinstance(slots, list) and len(slots) <= MAX_SLOTS and all(isinstance(text, str) for text in slots)
    ):
        status, reason = "protocol", FOREIGN
    if status == "ok" and not sound(item.get("inputs")):
        status, reason = "protocol", f"the inputs {UNSOUND}"
    if (
        status == "ok"
        and isinstance(slots, list)
        and max(_filled_length(template, slots), sum(map(len, slots))) > MAX_STATEMENT
    ):
        status, reason = "output", f"the statement has more than {MAX_STATEMENT} characters"
    if status != "ok":
        return Instance(*pair, status, reason, "", None, (), item["cpu_s"])
    assert isinstance(slots, list)
    return Instance(
        *pair, status, reason, fill(template, slots), item.get("inputs"), tuple(slots), item["cpu_s"]
    )


def _reading(item: dict[str, Any]) -> Reading:
    if item["status"] == "ok" and not sound(item.get("inputs")):
        return Reading("protocol", f"the inputs {UNSOUND}", None)
    return Reading(item["status"], item["reason"], item.get("inputs") if item["status"] == "ok" else None)


def _solved(item: dict[str, Any]) -> Solved:
    status, reason, steps = item["status"], item["reason"], item.get("steps")
    answer = item.get("answer") if status == "ok" else None
    if isinstance(answer, dict) and answer.get("status") == "schema_error":
        status, reason, answer = (
            "schema_error",
            one_line(str(answer.get("detail", ""))[:LONGEST_REASON]),
            None,
        )
    elif not sound(answer):
        status, reason, answer = "protocol", f"the answer {UNSOUND}", None
    counted = steps if type(steps) is int and 0 <= steps <= MAX_STEPS else None
    return Solved(status, reason, answer, type(answer).__name__, counted, item["cpu_s"])


def checker_on_tasks(source: str) -> str:
    """Return the checker as a validator of {"inputs", "answers"}."""
    return fill_template(
        "evolake.families.sandbox.templates.checker",
        source=source + "\n",
        inputs='task["inputs"]',
        answers='task["answers"]',
    )


def checker_on_answers(source: str, answers: Sequence[Any]) -> str:
    """Return the checker as a validator of the family's own inputs, which judges the same answers every
    time."""
    written = f"part_json.loads({as_json([*answers, ''])!r})[:-True]"
    return fill_template(
        "evolake.families.sandbox.templates.checker", source=source + "\n", inputs="task", answers=written
    )


def check(
    source: str,
    tasks: Sequence[tuple[Any, Sequence[Any]]],
    *,
    pool: Any,
    caps: Caps = Caps(),
    elsewhere: bool = False,
) -> list[Solved]:
    """Return what a checker says of answers to inputs: each result's `answer` is a list of truth values.
    Raises MachineryError when the jail failed."""
    payload = [{"inputs": inputs, "answers": list(answers)} for inputs, answers in tasks]
    return [
        verdicts(item, len(task["answers"]))
        for item, task in zip(
            solve(checker_on_tasks(source), payload, pool=pool, caps=caps, elsewhere=elsewhere),
            payload,
            strict=True,
        )
    ]


def check_parts(
    source: str, parts: Sequence[Sequence[tuple[Any, Sequence[Any]]]], *, pool: Any, caps: Caps = Caps()
) -> list[list[Solved]]:
    """Return what a checker says of several lists of tasks, as `check` does of each. Raises MachineryError
    when the jail failed."""
    payloads = [
        [{"inputs": inputs, "answers": list(answers)} for inputs, answers in tasks] for tasks in parts
    ]
    done = solve_parts(checker_on_tasks(source), payloads, pool=pool, caps=caps)
    return [
        [verdicts(item, len(task["answers"])) for item, task in zip(items, payload, strict=True)]
        for items, payload in zip(done, payloads, strict=True)
    ]


def verdicts(item: Solved, count: int) -> Solved:
    """Return the result, if it holds that many truth values; else one of status "protocol", for the checker
    shares its process with the wrapper."""
    whole = (
        isinstance(item.answer, list)
        and len(item.answer) == count
        and all(isinstance(verdict, bool) for verdict in item.answer)
    )
    return (
        item
        if item.status != "ok" or whole
        else Solved("protocol", "not a list of verdicts", None, "NoneType", None, item.cpu_s)
    )


def accepted(columns: Mapping[str, Sequence[Solved]], row: int, place: int) -> dict[str, bool]:
    """Return checker -> its verdict on answer number `place` of task number `row`; a checker without verdicts
    is left out."""
    return {name: column[row].answer[place] for name, column in columns.items() if column[row].status == "ok"}


def by_majority(said: Mapping[str, bool], checkers: int) -> bool | None:
    """Return the verdict of more than half of all checkers; None if there is none."""
    yes, no = sum(said.values()), sum(not verdict for verdict in said.values())
    if 2 * yes > checkers:
        return True
    if 2 * no > checkers:
        return False
    return None


class MeteredPool:
    """Passes calls on to a pool of evolake.jail. `gate` names the account; times come from the kernel and
    differ from run to run."""

    def __init__(self, pool: Any, gate: str = ""):
        self._pool = pool
        self.gate = gate
        self.costs: dict[str, dict[str, float]] = {}

    def call(self, **arguments: Any) -> Any:
        """Run a call in the pool and add what it took to the gate's account."""
        outcome = self._pool.call(**arguments)
        account = self.costs.setdefault(self.gate, {"calls": 0, "cpu_s": 0.0, "wall_s": 0.0})
        account["calls"] += 1
        account["cpu_s"] += outcome.cpu_s
        account["wall_s"] += outcome.wall_s
        return outcome
