"""A scripted model for the writer of programs behind a real HTTP server: it answers by a plan, with edits, a
whole file, and replies of no use.

It is no model and shows nothing about models. It is there so that a generation can be run with the backend
`model`: wire format, tape, edits that do not apply, and a program that reaches for its evaluator included.
`ScriptedPrograms.prompts` keeps what was asked.
"""

from __future__ import annotations

import re
import threading
from typing import Any

from loopback_model import Action, Asked, say
from programs_fixtures import PROGRAM, cheater

FILE = "initial_program.py"
SOUND = {
    "idea": "a steeper line",
    "edits": [{"file": FILE, "search": "scale = 2.0", "replace": "scale = 2.5"}],
}
ASTRAY = {
    "idea": "a line that is not there",
    "edits": [{"file": FILE, "search": "no such line", "replace": "x"}],
}
CHEAT = {
    "idea": "the evaluator's own",
    "whole": {FILE: cheater("import evaluator\ndef answer(x):\n    return evaluator.TARGET / 5\n")},
}
OUTSIDE = {"idea": "fewer points", "whole": {FILE: PROGRAM.replace("range(5)", "range(1)")}}
PLAN = (SOUND, ASTRAY, CHEAT, OUTSIDE)


class ScriptedPrograms:
    """A script for `LoopbackModel`: the plan in the order of what is asked, each entry once, and from its end
    on the sound edit again."""

    def __init__(self, plan: tuple[dict[str, Any], ...] = PLAN) -> None:
        self.prompts: list[str] = []
        self._plan = plan
        self._lock = threading.Lock()

    def __call__(self, asked: Asked) -> Action:
        text = "\n".join(message["content"] for message in asked.messages)
        assert re.match("You improve a program", text), text[:200]
        with self._lock:
            self.prompts.append(text)
            number = len(self.prompts) - 1
        return say(self._plan[number] if number < len(self._plan) else SOUND)
