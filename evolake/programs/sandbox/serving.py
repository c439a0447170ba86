"""Runs inside the jail, in the process of a program whose evaluator calls it from another jail: executes the
program and answers the calls.

The evaluator's side is `calling`. Whatever the program does to this process, its evaluator reads messages
only, and takes plain values from them.
"""

from __future__ import annotations

import json
import traceback
from typing import Any

from evolake.jail.drivers import load_candidate
from evolake.jail.inside.candidate import CANDIDATE_FILE
from evolake.jail.inside.descriptors import CHANNEL_OF_CANDIDATE
from evolake.programs.sandbox.calling import (
    NUMBER,
    NotPlain,
    from_plain,
    receive,
    send,
    set_chance_state,
    sow,
    to_plain,
)

READ, WRITE = CHANNEL_OF_CANDIDATE
LONGEST_TEXT = 4000


def serve(source: str, payload: dict[str, Any]) -> int:
    """Answer messages until the evaluator has gone; return their number. payload: seed; numpy, whether it is
    to be seeded, too."""
    sow(payload["seed"], numpy=payload["numpy"])
    modules: list[dict[str, Any]] = []
    served = 0
    while (message := receive(READ)) is not None:
        served += 1
        number = {NUMBER: message[NUMBER]}
        try:
            if message["chance"] is not None:
                set_chance_state(from_plain(message["chance"]))
            answer = WORK[message["op"]](source, modules, message)
        except BaseException as error:  # also SystemExit: the evaluator hears of it
            answer = _failure(error)
        try:
            send(WRITE, answer | number)
        except NotPlain as error:
            send(WRITE, _failure(error) | number)
    return served


def _load(source: str, modules: list[dict[str, Any]], message: dict[str, Any]) -> dict[str, Any]:
    modules.append(load_candidate(source))
    return {
        "module": len(modules) - 1,
        "names": [
            name for name, value in modules[-1].items() if callable(value) and not name.startswith("__")
        ],
    }


def _call(source: str, modules: list[dict[str, Any]], message: dict[str, Any]) -> dict[str, Any]:
    given = message["given"]
    args, named = from_plain(given)
    result = modules[message["module"]][message["name"]](*args, **named)
    in_place = message["watch"] and json.dumps(_plain_or_none((args, named))) != json.dumps(given)
    try:
        return {"value": to_plain(result), "in_place": bool(in_place)}
    except NotPlain as error:
        raise NotPlain(f"{message['name']} returns {error}") from None


def _end(source: str, modules: list[dict[str, Any]], message: dict[str, Any]) -> dict[str, Any]:
    return {}


WORK = {"load": _load, "call": _call, "end": _end}


def _plain_or_none(value: Any) -> Any:
    try:
        return to_plain(value)
    except NotPlain:
        return None


def _failure(error: BaseException) -> dict[str, Any]:
    """Return an exception as data. strange: that the value, not the program, was at fault."""
    try:
        text = str(error)
    except BaseException:
        text = ""
    lines = [
        line
        for frame, line in traceback.walk_tb(error.__traceback__)
        if frame.f_code.co_filename == CANDIDATE_FILE
    ]
    if isinstance(error, SyntaxError):
        line = error.lineno
    elif lines:
        line = lines[-1]
    else:
        line = None
    place = f" (line {line} of the program)" if line else ""
    return {
        "raised": type(error).__name__,
        "text": text[:LONGEST_TEXT] + place,
        "strange": isinstance(error, NotPlain),
    }
