"""Run inside the jail, in the candidate's own process: many instances of one source per call.

A call holds one source only, so a validator never shares a process with the generator, the reader or another
validator. `random` and numpy are seeded before every `input`, and every item has its own cpu cap, held by a
virtual timer, so that one slow instance does not take the others down; what ignores the timer meets the
jail's limits. Work is counted in executed source lines, which no machine's speed changes.

Nothing here binds a candidate that wants to cheat: it can rewrite this module, its own items and their
counts. The host takes the reply as the candidate's word (see `running`), and no gate decides by a count.
"""

from __future__ import annotations

import contextlib
import io
import json
import math
import random
import signal
import sys
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from types import FrameType
from typing import Any

from evolake.jail.drivers import load_candidate
from evolake.jail.inside.candidate import CANDIDATE_FILE, describe

MAX_DEPTH = 60
LARGEST_DIGITS = 4000
MOST_SLOW = 2
"""Items of one call that may go past their cpu cap; the rest is not tried any more."""
PROBES: tuple[Any, ...] = (None, {}, [], "x", 0, {"unexpected": [1]})
"""Inputs of no family's form, for the schema probe."""


class TimeUp(BaseException):
    """The item's cpu cap."""


class StepsUp(BaseException):
    """The item's cap of source lines."""


class NotPlain(ValueError):
    """A value that JSON cannot carry."""


def generate(source: str, payload: dict[str, Any]) -> list[dict[str, Any]]:
    """Return instances. payload: {"pairs": [[difficulty, seed], ...], "cap_s", "elsewhere": whether in
    another time and zone and with other orders of sets}. Items: status ok with inputs and slots, or another
    with its reason.
    """
    namespace = _loaded(source, payload)

    def make(pair: list[int]) -> dict[str, Any]:
        difficulty, seed = pair
        random.seed(seed)
        if "numpy" in sys.modules:
            sys.modules["numpy"].random.seed(seed % 2**32)
        made = namespace["input"](difficulty)
        if not isinstance(made, tuple | list) or len(made) != 2:
            raise NotPlain(f"input returned {type(made).__name__}, wanted (inputs, slot_texts)")
        inputs, slots = made
        if not isinstance(slots, tuple | list):
            raise NotPlain(f"slot_texts is {type(slots).__name__}, wanted a list of strings")
        return {"inputs": plain(inputs, keys=False), "slots": [str(text) for text in slots]}

    return each(_entry(namespace, "input", make), payload["pairs"], payload["cap_s"])


def solve(source: str, payload: dict[str, Any]) -> list[dict[str, Any]]:
    """Return answers. payload: {"inputs": [...], "cap_s", "max_steps": null or a cap, which turns the
    counting on, "elsewhere"}. Items hold answer, steps.
    """
    namespace = _loaded(source, payload)
    most = payload.get("max_steps")

    def answer_of(inputs: Any) -> dict[str, Any]:
        counter = _Counter(most) if most is not None else None
        with counter or contextlib.nullcontext():
            answer = namespace["solution"](inputs)
        return {"answer": plain(answer, keys=True), "steps": counter.steps if counter else None}

    return each(_entry(namespace, "solution", answer_of), payload["inputs"], payload["cap_s"])


def read(source: str, payload: dict[str, Any]) -> list[dict[str, Any]]:
    """Return inputs from statements. payload: {"texts": [...], "cap_s"}."""
    namespace = load_candidate(source)
    return each(
        _entry(namespace, "read", lambda text: {"inputs": plain(namespace["read"](text), keys=False)}),
        payload["texts"],
        payload["cap_s"],
    )


def program(source: str, payload: dict[str, Any]) -> str:
    """Run a reviewer's program with the statement in the variable TEXT; what it printed, at most `longest`
    characters of it."""
    shown = io.StringIO()
    with contextlib.redirect_stdout(shown):
        namespace: dict[str, Any] = {"__name__": "__main__", "TEXT": payload["text"]}
        exec(compile(source, CANDIDATE_FILE, "exec"), namespace)
    text = shown.getvalue()
    return text if len(text) <= payload["longest"] else text[: payload["longest"]] + "..."


def _loaded(source: str, payload: dict[str, Any]) -> dict[str, Any]:
    if not payload.get("elsewhere"):
        return load_candidate(source)
    from evolake.families.sandbox import elsewhere

    text = elsewhere.moved(source)
    elsewhere.move()
    return load_candidate(text)


def plain(value: Any, *, keys: bool, depth: int = 0) -> Any:
    """Return the value as JSON would give it back. keys: whether keys of mappings that are numbers may become
    strings (answers), or may not (inputs).

    Raises NotPlain for what JSON cannot carry: sets, objects, NaN and infinities, and nesting past MAX_DEPTH.
    """
    if depth > MAX_DEPTH:
        raise NotPlain(f"nested deeper than {MAX_DEPTH}")
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, int):
        if value.bit_length() > 3.3 * LARGEST_DIGITS:
            raise NotPlain(f"an integer of more than {LARGEST_DIGITS} digits")
        return int(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise NotPlain("a number that is not finite")
        return float(value)
    if isinstance(value, list | tuple):
        return [plain(item, keys=keys, depth=depth + 1) for item in value]
    if isinstance(value, dict):
        return {_key(key, keys): plain(item, keys=keys, depth=depth + 1) for key, item in value.items()}
    if isinstance(value, Fraction) and keys:
        return str(value)
    if isinstance(value, Decimal) and keys and value.is_finite():
        return str(value)
    if type(value).__module__.partition(".")[0] == "numpy":
        return plain(_from_numpy(value), keys=keys, depth=depth + 1)
    raise NotPlain(f"a value of type {type(value).__name__}")


def _from_numpy(value: Any) -> Any:
    return value.tolist()


def _key(key: Any, allowed: bool) -> str:
    if isinstance(key, str):
        return key
    if not allowed or not isinstance(key, int | float | tuple):
        raise NotPlain(f"a key of type {type(key).__name__}")
    return json.dumps(plain(key, keys=True)) if isinstance(key, tuple) else str(key)


def _entry(
    namespace: dict[str, Any], name: str, item: Callable[[Any], dict[str, Any]]
) -> Callable[[Any], dict[str, Any]]:
    if not callable(namespace.get(name)):
        raise NameError(f"no function {name!r}")
    return item


def each(element: Callable[[Any], dict[str, Any]], items: list[Any], cap_s: float) -> list[dict[str, Any]]:
    """Return what `element` gives for each item, in order, with `status` and `reason`; what it raises is a
    status. cap_s: cpu seconds an item may take.
    """
    signal.signal(signal.SIGVTALRM, _time_up)
    done: list[dict[str, Any]] = []
    slow = 0
    for item in items:
        if slow == MOST_SLOW:
            done.append({"status": "cpu", "reason": f"not run: {slow} before it went past the cpu cap"})
            continue
        signal.setitimer(signal.ITIMER_VIRTUAL, cap_s, 0.05)
        try:
            result = {"status": "ok", "reason": "", **element(item)}
        except BaseException as error:
            result = {"status": _status(error), "reason": describe(error)[:500]}
        finally:
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
            sys.settrace(None)
        slow += result["status"] == "cpu"
        done.append(result)
    return done


def _time_up(number: int, frame: FrameType | None) -> None:
    raise TimeUp("past the cpu cap of one instance")


def _status(error: BaseException) -> str:
    for kind, status in (
        (TimeUp, "cpu"),
        (StepsUp, "steps"),
        (MemoryError, "memory"),
        (PermissionError, "forbidden"),
        (NotPlain, "form"),
    ):
        if isinstance(error, kind):
            return status
    return "error"


class _Counter:
    """Counts executed lines of the candidate's source while it is open."""

    def __init__(self, most: int):
        self.most, self.steps = most, 0

    def __enter__(self) -> _Counter:
        sys.settrace(self._global)
        return self

    def __exit__(self, *_: object) -> None:
        sys.settrace(None)

    def _global(self, frame: FrameType, event: str, argument: Any) -> Any:
        return self._local if frame.f_code.co_filename == CANDIDATE_FILE else None

    def _local(self, frame: FrameType, event: str, argument: Any) -> Any:
        if event == "line":
            self.steps += 1
            if self.steps > self.most:
                raise StepsUp(f"more than {self.most} source lines")
        return self._local
