"""A scripted model for the roles of the families line behind a real HTTP server: it answers each prompt by a
plan, with real families as texts.

It is no model and shows nothing about models. It is there so that whole cycles can be run with the backend
`model`: wire format, prices, tape, mended drafts, hostile programs, sessions and guidance included.
`ScriptedFamilies.prompts` keeps what was asked, by role.
"""

import re
import threading
from collections import defaultdict
from collections.abc import Callable
from typing import Any

from families_fixtures import seed_family
from loopback_model import Action, Asked, call, say

from evolake.families.model.contract import Family
from evolake.families.model.statement import stated

SEEDS = ("clinic-queue", "remainder-subsets", "truth-tellers")
GUIDANCE = "Write about parcels next."
ROLES = {
    "You write families": "evolve",
    "You review questions": "quality",
    "You write solvers": "validator",
    "You keep a short list": "curate",
    "You solve questions from": "blind",
    "You solve reasoning": "solver",
}
PROCEED = {
    "readability": "pass",
    "novelty": "pass",
    "difficulty_alignment": "pass",
    "action": "proceed",
    "feedback": "",
}
NETWORK = "import socket\nsocket.create_connection(('127.0.0.1', 80))\n"
FORK = "import os\nos.fork()\n"
HOSTILE = {"": NETWORK, "measured": FORK, "blocked": NETWORK.replace("80", "81")}
"""What the hostile family does on import: at first, after it was measured and after a gate blocked it."""


def as_reply(family: Family, **changes: Any) -> dict[str, Any]:
    """A family as a model writes it: texts with the rules written out, nothing declared. changes: other
    values of the reply."""
    sources = [{"name": name, "source": source} for name, source in family.validators.items()]
    return {
        "title": family.title,
        "category": family.category,
        "language": family.language,
        "answer_type": family.answer.type,
        "operator": "written",
        "used_parents": [1],
        "generator": family.generator,
        "template": stated(family),
        "validator": family.validator,
        "validators": sources,
        "reader": family.reader,
        "note": "",
        "record": None,
    } | changes


class ScriptedFamilies:
    """A script for `LoopbackModel`. Operators come in the order switch, pipe, guard, in cycle 2 aggregate,
    invert, filter, which play the same parts; no worlds are drawn. Cycle 2 is told apart by its guidance.

    cycle 1: switch is sound; pipe has a wrong primary and is mended; guard is hostile, and so are its
    corrections. cycle 2, in sessions: switch is the first cycle's sound family once more; pipe has a
    generator that fails, is looked at, mended and put to the vote, and names no parents; guard is no family.
    Validators are always written by another call, which sees the statement.
    """

    def __init__(self) -> None:
        self.new = {name: seed_family(name) for name in ("postfix-machine", "bus-legs", "polynomial-product")}
        self.solving = [*map(seed_family, SEEDS), *self.new.values()]
        self.prompts: dict[str, list[str]] = defaultdict(list)
        self._lock = threading.Lock()

    def __call__(self, asked: Asked) -> Action:
        role = next(name for start, name in ROLES.items() if asked.messages[0]["content"].startswith(start))
        text = asked.messages[1]["content"]
        role = "session" if "tools" in asked.body else role
        with self._lock:
            self.prompts[role].append(text)
        if role == "session":
            return self._session(text, sum(message["role"] == "assistant" for message in asked.messages))
        plays: dict[str, Callable[[str], Any]] = {
            "evolve": self._evolve,
            "quality": lambda _: PROCEED,
            "validator": self._validator,
            "curate": _curate,
            "blind": self._blind,
            "solver": self._solve,
        }
        return say(plays[role](text))

    def _evolve(self, text: str) -> dict[str, Any]:
        operator = _part(text)
        drafted = "def input" in text.partition("# Version to correct")[2]
        first, second, third = self.new.values()
        wrong = (
            second.validator
            + "\n\n_exact = solution\n\n\ndef solution(inputs):\n    return _exact(inputs) + 1\n"
        )
        if not drafted:
            stage = ""
        elif "gate: measured before the gates" in text:
            stage = "measured"
        else:
            stage = "blocked"
        hostile = as_reply(third, generator=HOSTILE[stage] + third.generator)
        mended = as_reply(second, validator=second.validator if drafted else wrong)
        return {"switch": as_reply(first), "pipe": mended, "guard": hostile}[operator] | {
            "idea": f"Idea of {operator.title()}."
        }

    def _session(self, text: str, turn: int) -> Action:
        """The turn of a number of the session that the operator names."""
        return SESSIONS[_part(text)](self.new)[turn]

    def _validator(self, text: str) -> dict[str, Any]:
        """The independent validators of the family whose statement is shown, one after the other. No program
        is shown."""
        assert "def " not in text, text
        [family] = [item for item in self.new.values() if stated(item).splitlines()[0] in text]
        sources = list(family.validators.values())
        return {
            "source": sources[1 if "the first idea" in text else 0],
            "algorithm": "the first idea" if "the first idea" not in text else "another",
        }

    def _blind(self, text: str) -> dict[str, Any]:
        """A program that reads the statement in every way it knows, then what that printed."""
        _, shown, printed = text.rpartition("  output: ")
        if shown:
            return {"reasoning": "seen", "final": printed.partition("```")[0]}
        pairs = [(family.reader, next(iter(family.validators.values()))) for family in self.solving]
        return {"reasoning": "run it", "code": PROGRAM.format(pairs=pairs)}

    def _solve(self, text: str) -> dict[str, Any]:
        """Right where the text is that of a seed, else nothing: so drift is measured, and new families are
        harder."""
        statement = text.partition("# The question\n")[2].partition("\n# Task")[0].strip()
        for family in map(seed_family, SEEDS):
            names: dict[str, Any] = {}
            exec(f"{family.reader}\n{family.validator}", names)
            try:
                return {
                    "reasoning": "known",
                    "final": "\\boxed{" + str(names["solution"](names["read"](statement))) + "}",
                }
            except Exception:
                continue
        return {"reasoning": "too hard", "final": "\\boxed{N/A}"}


def _part(text: str) -> str:
    """Whose part the operator that is asked for plays."""
    operator = re.findall(r"^Operator: (\w+)", text, re.MULTILINE)[0]
    return {"aggregate": "switch", "invert": "pipe", "filter": "guard"}.get(operator, operator)


def _files(family: Family, **changes: str) -> list[tuple[str, dict[str, str]]]:
    texts = {
        "generator.py": family.generator,
        "template.md": stated(family),
        "validator.py": family.validator,
        "reader.py": family.reader or "",
    }
    return [("write_file", {"path": name, "text": text}) for name, text in (texts | changes).items()]


def _finish(family: Family, **changes: Any) -> tuple[str, dict[str, Any]]:
    return "finish", {
        "title": family.title,
        "category": family.category,
        "answer_type": family.answer.type,
    } | changes


def _same(new: dict[str, Family]) -> list[Action]:
    family = new["postfix-machine"]
    return [call(*_files(family)), call(_finish(family, used_parents=[1]))]


def _mended(new: dict[str, Family]) -> list[Action]:
    family = new["polynomial-product"]
    return [
        call(
            ("list_files", {}),
            ("read_file", {"path": "parents/1/generator.py"}),
            thought="What are the parents?",
        ),
        call(*_files(family, **{"generator.py": f"import maths\n{family.generator}"})),
        call(("samples", {"count": 1})),
        call(("edit_file", {"path": "generator.py", "search": "import maths\n", "replace": ""})),
        call(("samples", {"count": 1}), ("answers", {"count": 2})),
        call(("votes", {"count": 2})),
        call(_finish(family)),
    ]


def _none(new: dict[str, Family]) -> list[Action]:
    return [call(_finish(new["postfix-machine"], note="nothing comes to mind"))]


SESSIONS: dict[str, Callable[[dict[str, Family]], list[Action]]] = {
    "switch": _same,
    "pipe": _mended,
    "guard": _none,
}
"""Operator -> the turns of its session."""


def _curate(text: str) -> dict[str, Any]:
    return {
        "items": re.findall(
            r"^\s*-? ?(.+[.])$", text.partition("# New candidates")[2].partition("# Task")[0], re.MULTILINE
        )[:3]
    }


PROGRAM = """
PAIRS = {pairs!r}
for reader, validator in PAIRS:
    names = {{}}
    try:
        exec(reader + "\\n" + validator, names)
        answer = names["solution"](names["read"](TEXT))
    except Exception:
        continue
    if not isinstance(answer, dict):
        print("\\\\boxed{{%s}}" % (answer,))
        break
"""
