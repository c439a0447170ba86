"""What an edit acts on, by the counter that shows it: restarts, decisions or propagations for each conflict,
or the length of what is learnt.

Patches are known by their slots. Options are known by the words of their names and of their declared texts;
an option of which no word is known has no subject.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal

from evolake.solvers.edits.catalogue import PATCHES

Subject = Literal["restarts", "decisions", "propagations", "proof_bytes"]
_SLOTS: tuple[tuple[str, Subject], ...] = (
    (r"restart|^mode", "restarts"),
    (r"reduce|^learnt-size|tier", "propagations"),
    (r"^minimise|^inprocess|vivif", "proof_bytes"),
    (r"phase|vsids|decision|bump|backtrack|lrb", "decisions"),
)
_OPTIONS: tuple[tuple[str, Subject], ...] = (
    (r"^(?:re)?phase", "decisions"),
    (
        r"restart|luby|reluctant|stabili[sz]|\bemaglue|\bszlbdqueue\b|\bsztrailqueue\b|\brinc\b|\brfirst\b",
        "restarts",
    ),
    (
        r"minimi[sz]|shrink|vivif|prob(?:e|ing)|subsum|\belim|elimination|ternary|transred|inprocess|"
        r"\blcm\b|\bccmin\b|decompos|condition|\bcover|\bblock|instantiat|sweep|substitut",
        "proof_bytes",
    ),
    (r"reduc|learnt clause|clause activity|glue|tier|garbage|\blbd\b", "propagations"),
    (
        r"variable activity|vsids|lrb|polarity|score|phas|random|\brnd\b|bump|decay|decision|chrono|"
        r"\btarget|walk|shuffl|reverse",
        "decisions",
    ),
)
"""In this order: the first pattern that is found decides, so that "maximum stabilizing phase" is about
restarts."""


def subject_of_patch(name: str) -> Subject | None:
    """Return the subject of a patch of the catalogue, by its slot; None if no pattern fits."""
    spec = PATCHES.get(name)
    return _first(_SLOTS, spec.slot) if spec else None


def subject_of_option(name: str, text: str) -> Subject | None:
    """Return the subject of an option, by its name and its declared text; None if no pattern fits."""
    return _first(_OPTIONS, f"{name} {text}".lower())


def subject_of(key: str, texts: Mapping[str, str]) -> Subject | None:
    """Return the subject of an edit, by its key. texts: option -> its declared text."""
    kind, _, name = key.partition(":")
    return subject_of_patch(name) if kind == "patch" else subject_of_option(name, texts.get(name, ""))


def meaning_of(key: str, texts: Mapping[str, str]) -> str:
    """Return what an edit is meant to do: of a patch its hypothesis, of an option its declared text; "" if it
    has none."""
    kind, _, name = key.partition(":")
    if kind == "patch":
        return PATCHES[name].expects if name in PATCHES else ""
    return texts.get(name, "")


def _first(patterns: tuple[tuple[str, Subject], ...], text: str) -> Subject | None:
    return next((subject for pattern, subject in patterns if re.search(pattern, text)), None)
