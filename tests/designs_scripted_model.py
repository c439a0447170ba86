"""A scripted model for the roles of the designs line behind a real HTTP server: it answers each prompt from
the prompt's own text, deterministically.

It is no model and shows nothing about models. It is there so that a whole cycle can be run with the backend
`model`: wire format, prices, tape, repairs and failures included. `PlayedModel.says` counts what was
answered, by the kind of reply.
"""

import hashlib
import re
import threading
from collections import Counter
from typing import Any

import numpy as np
from loopback_model import Action, Asked, call, raw, say, status

from evolake.designs.genome.open_genetic import parent_of, propose
from evolake.designs.genome.open_genome import baseline
from evolake.objectives.portfolio import new_objective

BROKEN_DESIGN = (
    "VARIABLES_SPEC = {}\nHYPER_SPACE = {}\ndef _grad_single(vars, idx, sgn, hp):\n    return "
    "open('/etc/passwd').read()\n"
)


class PlayedModel:
    """A script for `LoopbackModel`. The first request of all is told to come back later, the first design is
    no design, the second is cut off."""

    def __init__(self) -> None:
        self.says: Counter[str] = Counter()
        self._lock = threading.Lock()

    def __call__(self, asked: Asked) -> Action:
        kind = _kind(asked)
        with self._lock:
            self.says[kind] += 1
            number, total = self.says[kind], sum(self.says.values())
        if total == 1:
            return status(429, {"Retry-After": "0"})
        text = "\n".join(message["content"] for message in asked.messages)
        random = np.random.default_rng(int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big"))
        if kind == "session":
            return _session(text, random, sum(message["role"] == "assistant" for message in asked.messages))
        if kind == "solver_code" and number == 1:
            return say(_design(text, random) | {"solver_code": BROKEN_DESIGN})
        if kind == "solver_code" and number == 2:
            return raw(b'{"id": "cut", "choices": [')
        return say(_PLAYS[kind](text, random))


def _kind(asked: Asked) -> str:
    """The property that tells this reply from all others; of a session's turns "session"."""
    if "tools" in asked.body:
        return "session"
    wanted = (asked.response_format or {}).get("json_schema", {}).get("schema", {}).get("properties", {})
    for name in ("lookup_experiment_ids", "research_directions", "analyses", "research_phase"):
        if name in wanted:
            return name
    if {"explanation", "solver_code"} == set(wanted):
        return "revision"
    mending = "mending " if "error_summary" in wanted else ""
    return mending + ("solver_code" if "solver_code" in wanted else "objective_code")


def _ids(text: str) -> list[str]:
    return list(dict.fromkeys(re.findall(r'"design_id": ?"([0-9a-f]{12})"', text)))


def _lookup(text: str, random: np.random.Generator) -> dict[str, Any]:
    return {"lookup_experiment_ids": _ids(text)[:3], "context_rationale": "The first ones by bound."}


def _directions(text: str, random: np.random.Generator) -> dict[str, Any]:
    ids = _ids(text)
    return {
        "current_phase": "early_exploration",
        "key_insights": [],
        "success_patterns": [],
        "failure_patterns": [],
        "research_directions": ["Add memory to the clauses.", "Vary the release of satisfied clauses."],
        "strategy_rationales": ["They are slow.", "It is abrupt."],
        "focus_areas": ["clauses", "release"],
        "avoid_areas": ["", ""],
        "reference_design_ids": [ids[:1], ids[:2]],
    }


def _design(text: str, random: np.random.Generator) -> dict[str, Any]:
    child = propose([parent_of("", "baseline", baseline())], set(), random)
    assert child is not None
    ids = _ids(text)[:2]
    weights = [{"design_id": design_id, "weight": 1 / len(ids)} for design_id in ids]
    return {
        "explanation": "One term more.",
        "solver_code": child.source,
        "short_name": child.title[:40],
        "reference_weights": weights,
    }


def _session(text: str, random: np.random.Generator, turn: int) -> Action:
    """Looks, writes what is no design, has it checked, writes one, tries it, finishes."""
    written = _design(text, random)
    card = {name: written[name] for name in ("explanation", "short_name", "reference_weights")}

    def write(source: str) -> tuple[str, dict[str, str]]:
        return "write_file", {"path": "design.py", "text": source}

    return [
        call(("list_files", {}), ("read_file", {"path": "design.py"})),
        call(write(BROKEN_DESIGN), ("check", {})),
        call(write(written["solver_code"]), ("check", {})),
        call(("trial", {"variables": 10, "instances": 4, "max_steps": 200})),
        call(("finish", card)),
    ][turn]


def _revised(text: str, random: np.random.Generator) -> dict[str, Any]:
    return {"explanation": "The trial shows nothing.", "solver_code": None}


def _mended(text: str, random: np.random.Generator) -> dict[str, Any]:
    return {"error_summary": "It was no design.", "solver_code": _design(text, random)["solver_code"]}


def _analysis(text: str, random: np.random.Generator) -> dict[str, Any]:
    ids = dict.fromkeys(re.findall(r"(?m)^design ([0-9a-f]{12}): ", text))
    return {
        "analyses": [
            {"design_id": name, "key_insight": "It ran.", "success_level": "moderate"} for name in ids
        ]
    }


def _objective(text: str, random: np.random.Generator) -> dict[str, Any]:
    spec = new_objective(random, [])
    return {"objective_description": spec.description, "objective_code": spec.source}


def _mended_objective(text: str, random: np.random.Generator) -> dict[str, Any]:
    return {"error_summary": "It failed."} | _objective(text, random)


def _review(text: str, random: np.random.Generator) -> dict[str, Any]:
    return {
        "research_assessment": "Early.",
        "research_phase": "exploring",
        "objective_analysis": [],
        "objective_directions": "Look at the tail.",
    }


_PLAYS = {
    "lookup_experiment_ids": _lookup,
    "research_directions": _directions,
    "solver_code": _design,
    "mending solver_code": _mended,
    "analyses": _analysis,
    "revision": _revised,
    "objective_code": _objective,
    "mending objective_code": _mended_objective,
    "research_phase": _review,
}
