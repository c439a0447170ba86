"""What the gates say against a draft, to whoever writes it: a model between its replies, the author of a
blocked family, a person.

A model that writes in one reply is sent what the gates say that ask no model, before any is asked for
validators or reviews: a fault that the jail finds in a second does not cost those calls. Nothing is decided
here: the version that comes of it goes through every gate like any other.

The author of a blocked family is sent what decided: all faults of the gate, votes with their inputs, blind
reviews by difficulty. A person gets the faults of all gates in one list, each with the file and the line that
it is about.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from evolake.families.evolution.refining import TRACES, Observation
from evolake.families.gates.consensus import vote
from evolake.families.gates.execution import caps_of
from evolake.families.gates.judging import FamilyGates, FamilyResults, GateContext
from evolake.families.gates.specs import GATE_NAMES, GATES
from evolake.families.gates.text_review import read_texts
from evolake.families.model.contract import (
    CHECKERS,
    GENERATOR,
    READER,
    TEMPLATE,
    VALIDATOR,
    VALIDATORS,
    Family,
)
from evolake.families.model.similarity import Fingerprint
from evolake.families.model.statement import stated
from evolake.families.roles.models import Draft
from evolake.families.sandbox.running import MeteredPool, generate
from evolake.families.settings import FamiliesSettings
from evolake.gates import Finding, Raised, Ruleset, collected, contained, gate_named, raised_in
from evolake.gates.checkers import apply

MEASURING = ("execution", "static", "sentences")
"""Gates that ask no model. What does not run at the first is not taken to the others."""

LISTED = frozenset({"unbacked", "unsaid", "idle", "dead", "dead_functions", "vague", "impure"})
"""Keys of evidence of which a rule names the first entry only."""
TEXT = "text"


@dataclass(frozen=True)
class Measurement:
    """The outcome of a draft's run. faults: "gate: reason", in the order of gates and rules, then the text
    solver.
    costs: jail calls, cpu_s and wall_s."""

    faults: tuple[str, ...]
    costs: Mapping[str, float]


def measure_draft(
    family: Family, gates: FamilyGates, known: Sequence[Fingerprint], names: Sequence[str] = MEASURING
) -> Measurement:
    """Return all faults that these gates find and, if they are those of MEASURING, the text solver.

    Raises MachineryError when the jail failed.
    """
    context = GateContext(
        family, MeteredPool(gates.pool), gates.agents, gates.settings, known, gates.root_seed, ""
    )
    faults: list[str] = []
    for name in names:
        context.pool.gate = name
        evidence = collected(gate_named(GATES, name).collector(), context)
        found = [f"{name}: {reason}" for reason in findings(gates.ruleset, name, evidence)]
        faults += found
        if (found and name == names[0] and not _runs(evidence)) or (
            context.sample is None and name == "static"
        ):
            break
    faults += (
        _text_faults(family, context, gates.ruleset)
        if context.sample is not None and names == MEASURING
        else []
    )
    costs = context.pool.costs.values()
    return Measurement(
        tuple(faults), {key: sum(account[key] for account in costs) for key in ("calls", "cpu_s", "wall_s")}
    )


def _runs(evidence: Mapping[str, Any]) -> bool:
    """Return whether the execution gate's evidence has all instances, with an answer of the primary to
    each."""
    primary = evidence.get("voters", {}).get("primary")
    return (
        all(item[2] == "ok" for item in evidence.get("instances", [["", "", "none"]]))
        and primary is not None
        and not primary["failures"]
    )


def _text_faults(family: Family, context: GateContext, ruleset: Ruleset) -> list[str]:
    """Return where the text, as the text solver reads it, gives another answer than the primary."""
    assert context.sample is not None, "the sample is drawn by the static gate"
    context.pool.gate = TEXT
    votes = [
        vote({"primary": solved}, case_sensitive=family.answer.case_sensitive)
        for solved in context.sample.answers
    ]
    reading = contained(
        read_texts,
        family,
        context.sample.instances,
        votes,
        first=0,
        pool=context.pool,
        settings=context.settings,
    )
    if isinstance(reading, Raised) or not reading.evidence["differ"]:
        return []
    rules = [rule for rule in ruleset.of_gate("blind") if rule.check == "families.text_agrees"]
    found = [contained(apply, rule.check, {"text": reading.evidence}, rule.parameters) for rule in rules]
    return [f"{TEXT}: {item.reason}" for item in found if isinstance(item, Finding)]


def findings(ruleset: Ruleset, gate: str, evidence: Mapping[str, Any]) -> list[str]:
    """Return what every rule of a gate says against a candidate, where judging stops at the first. The same
    words are returned once.

    A rule names the first of several sentences or numbers that it objects to. It is applied to each of them,
    so all are named.
    """
    listed = [(key, value) for key, value in evidence.items() if key in LISTED and isinstance(value, list)]
    views = [evidence, *({**evidence, key: [item]} for key, value in listed for item in value)]
    results = [
        contained(apply, rule.check, view, rule.parameters)
        for rule in ruleset.of_gate(gate)
        for view in views
    ]
    return list(dict.fromkeys(result.reason for result in results if isinstance(result, Finding | Raised)))


LONGEST_INPUTS = 1_500
"""Characters of the inputs of one instance."""


def draft_of(
    examined: FamilyResults,
    observation: Observation,
    *,
    ruleset: Ruleset | None,
    pool: Any,
    settings: FamiliesSettings,
    validators: bool,
) -> Draft:
    """Return the blocked version with what is said against it. ruleset: of the gates; None if they are not
    known. validators: shown too."""
    family = examined.family
    evidence = examined.evidence.get(observation.gate, {})
    faults = findings(ruleset, observation.gate, evidence) if ruleset and not raised_in(evidence) else []
    return Draft(
        generator=family.generator,
        template=stated(family),
        validator=family.validator,
        reader=family.reader,
        validators=dict(family.validators) if validators else {},
        kind=observation.kind,
        gate=observation.gate,
        reason=observation.reason,
        traces=traces_with_inputs(family, observation, evidence, pool=pool, settings=settings),
        faults=[fault for fault in faults if fault != observation.reason],
    )


def traces_with_inputs(
    family: Family,
    observation: Observation,
    evidence: Mapping[str, Any],
    *,
    pool: Any,
    settings: FamiliesSettings,
) -> list[str]:
    """Return the traces of an observation as JSON lines, votes and reviews with the inputs that they are
    about, and the reviews by difficulty."""
    traces = list(observation.traces)
    if observation.gate not in ("consensus", "blind") or raised_in(evidence):
        return traces
    items = _objections(observation.gate, evidence)[:TRACES]
    instances = generate(
        family, [(item["difficulty"], item["seed"]) for item in items], pool=pool, caps=caps_of(settings)
    )
    shown = [
        item | {"inputs": json.dumps(instance.inputs, ensure_ascii=False)[:LONGEST_INPUTS]}
        if instance.status == "ok"
        else item
        for item, instance in zip(items, instances, strict=True)
    ]
    lines = [json.dumps(item, ensure_ascii=False, default=str) for item in shown] or traces
    if observation.gate == "consensus":
        lines.append(
            json.dumps(
                {"instances": evidence["instances"], "voted_otherwise_or_not": evidence.get("dissent", {})}
            )
        )
    else:
        lines.append(json.dumps({"blind_reviews_by_difficulty": reviews_by_difficulty(evidence["reviews"])}))
    return lines


def reviews_by_difficulty(reviews: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Return how many of the blind reviews of each difficulty found the label.

    >>> reviews_by_difficulty([{"difficulty": 5, "matched": True}, {"difficulty": 7, "matched": False}, {"difficulty": 5, "matched": False}])
    {'5': '1 of 2', '7': '0 of 1'}
    """  # noqa: E501
    found: dict[int, list[bool]] = {}
    for review in reviews:
        found.setdefault(review["difficulty"], []).append(bool(review["matched"]))
    return {
        str(difficulty): f"{sum(matched)} of {len(matched)}" for difficulty, matched in sorted(found.items())
    }


def _objections(gate: str, evidence: Mapping[str, Any]) -> list[dict[str, Any]]:
    """Return the votes, or the reviews, that speak against a family."""
    if gate == "blind":
        missed = [dict(review) for review in evidence.get("reviews", ()) if not review["matched"]]
        return [*missed, *map(dict, evidence.get("text", {}).get("wrong", ()))]
    return [dict(vote) for vote in [*evidence.get("undecided", ()), *evidence.get("primary_wrong", ())]]


_QUOTED = re.compile(r"'((?:[^'\\]|\\.){12,})'|\"((?:[^\"\\]|\\.){12,})\"")
_CONSTANT = re.compile(r"\b([A-Z][A-Z0-9_]*) is \S+ in ([\w/.]+)")
_SOURCE = re.compile(r"\b(?:validator|checker|solver) (?P<name>[a-z][a-z0-9_]*)\b")
_LINE = re.compile(r"\bline (\d+)")
_SLOT = re.compile(r"\bslot (\d+)\b")
_ENTRIES = {GENERATOR: "input", VALIDATOR: "solution", READER: "read"}
_WORDS = (
    (VALIDATOR, re.compile(r"\bsolution\b|\bprimary\b|strict majority")),
    (
        GENERATOR,
        re.compile(
            r"\binput\(|generator|instances? (?:are|differ)|the difficulty|slot texts|statement has|the "
            r"answer stands in"
        ),
    ),
    (READER, re.compile(r"\breader\b|blind reviews?")),
    (VALIDATOR, re.compile(r"validators?\b|answers?\b")),
    (TEMPLATE, re.compile(r"statement|sentence|template|text|question|brackets")),
)


@dataclass(frozen=True)
class PlacedFault:
    """One fault. file: of the family's folder, "" if none is meant; line: from 1, 0 if none is known."""

    gate: str
    reason: str
    file: str
    line: int

    def sentence(self) -> str:
        """Return the fault on one line."""
        where = f"{self.file}, line {self.line}" if self.line else self.file
        return f"{self.gate}: {self.reason}" + (f" ({where})" if where else "")

    def to_json(self) -> dict[str, Any]:
        """For a report in JSON."""
        return asdict(self)


def all_faults(family: Family, gates: FamilyGates, known: Sequence[Fingerprint]) -> list[PlacedFault]:
    """Return every fault that a gate finds without a model, in order of the gates. Raises MachineryError when
    the jail failed."""
    asks_nobody = gates.agents.backend.name == "operators"
    names = [name for name in GATE_NAMES if asks_nobody or name in (*MEASURING, "consensus")]
    split = [fault.partition(": ") for fault in measure_draft(family, gates, known, names).faults]
    return [PlacedFault(gate, reason, *place_of(family, reason)) for gate, _, reason in split]


def place_of(family: Family, reason: str) -> tuple[str, int]:
    """Return (file, line) that a reason is about: of the sentence that it quotes, the constant or the source
    that it names, else of the entry concerned."""
    for match in _QUOTED.finditer(reason):
        if line := _line_of_sentence(family.template, match[1] or match[2]):
            return TEMPLATE, line
    sources = family.sources()
    if (match := _CONSTANT.search(reason)) and match[2] in sources:
        return match[2], _line_of(sources[match[2]], rf"^{match[1]}\s*=")
    if (match := _SOURCE.search(reason)) and (file := _file_of(family, match["name"])):
        entry = "check" if file.startswith(CHECKERS) else "solution"
        line = _LINE.search(reason)
        return file, int(line[1]) if line else _line_of(sources[file], rf"^def {entry}\b")
    if match := _SLOT.search(reason):
        return TEMPLATE, _line_of(family.template, rf"\[Input Slot {match[1]}\]")
    file = next(
        (name for name, words in _WORDS if words.search(reason) and (name == TEMPLATE or name in sources)), ""
    )
    return file, _line_of(sources[file], rf"^def {_ENTRIES[file]}\b") if file in _ENTRIES else 0


def _file_of(family: Family, name: str) -> str:
    if name == "primary":
        return VALIDATOR
    if name in family.checkers:
        return f"{CHECKERS}/{name}.py"
    if name in family.validators:
        return f"{VALIDATORS}/{name}.py"
    return ""


def _line_of_sentence(template: str, sentence: str) -> int:
    """Return the line on which the sentence begins, with slots for `#` and rules for what the template does
    not have; 0 if it is nowhere."""
    bare = sentence.replace("\\n", "\n").replace("\\'", "'").replace("*", "")
    pieces = [re.escape(word).replace(r"\#", r"\[Input Slot \d+\]") for word in bare.split()]
    for words in (len(pieces), 6, 4):
        if len(pieces) >= words:
            match = re.search(r"[\s*]+".join(pieces[:words]), template)
            if match:
                return template.count("\n", 0, match.start()) + 1
    return 0


def _line_of(text: str, pattern: str) -> int:
    match = re.search(pattern, text, re.MULTILINE)
    return text.count("\n", 0, match.start()) + 1 if match else 0
