"""All faults of a blocked family in one list, each with the file and the line that it is about.

The gates stop at the first block, which is right for a cycle. A person who writes a family wants the others
too.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from evolake.families.evolution.measuring import MEASURING, measure_draft
from evolake.families.gates.judging import FamilyGates
from evolake.families.gates.specs import GATE_NAMES
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
