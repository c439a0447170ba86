"""What an audit found, for people, as JSON and as one page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

from evolake import __version__
from evolake.errors import EvolakeError
from evolake.file_names import shell_word

About = Literal["evaluator", "measurement", "gain"]
TITLES = {
    "evaluator": "Is the evaluator sound?",
    "measurement": "Is the score a measurement?",
    "gain": "Is the gain real?",
}
SOUND, UNSOUND, UNUSABLE, RECORD = "no finding", "not sound", "not audited", "record only"
UNKNOWN_MODE = "unknown"
"""Mode of an audit in which nothing was evaluated, as no evaluator was known."""
IMPORTED_TOO = "forged only if the program is imported"
"""Figure of an evaluator: classes of attacks that its mode holds back."""
DUMB = ("initial program", "hill climbing", "restarts")
"""Figures of a gain that the table of several audits has."""


@dataclass(frozen=True)
class Finding:
    """Something that is wrong.

    about: part of the audit. name: of the finding. reason: what was seen, with figures. change: what to do.
    command: that shows it again. program: text of the smallest program that does it; "" without one.
    """

    about: About
    name: str
    reason: str
    change: str
    command: str
    program: str = field(default="", repr=False)


@dataclass(frozen=True)
class Scored:
    """One evaluation. side: what was evaluated (see docs/audit.md). score: None if it gave none."""

    about: About
    side: str
    seed: int
    score: float | None


@dataclass(frozen=True)
class Audit:
    """The result of an audit.

    path: as it was typed. project: name. mode: how evaluator and program met. parts: of the audit that were
    done. figures: what was measured, by part. notes: what is no finding, by part. scores: of single
    evaluations. history: scores of the run's candidates in the order of birth, as the run states them."""

    path: str
    project: str
    mode: str
    parts: tuple[About, ...]
    findings: tuple[Finding, ...]
    figures: Mapping[About, Mapping[str, Any]]
    notes: Mapping[About, Sequence[str]]
    scores: tuple[Scored, ...] = ()
    history: tuple[float | None, ...] = ()

    @classmethod
    def of_json(cls, data: Mapping[str, Any]) -> Audit:
        """Return the audit that `to_json` wrote.

        Raises:
            KeyError, TypeError, ValueError: it is of another form.
        """
        findings = tuple(
            Finding(**{name: item[name] for name in Finding.__dataclass_fields__})
            for item in data["findings"]
        )
        scores = tuple(Scored(**item) for item in data["scores"])
        return cls(
            *(data["path"], data["project"], data["mode"], tuple(data["parts"])),
            findings,
            data["figures"],
            data["notes"],
            scores,
            tuple(data["history"]),
        )

    @property
    def verdict(self) -> str:
        """Return the verdict in one or two words."""
        if self.findings:
            return UNSOUND
        return RECORD if self.mode == UNKNOWN_MODE else SOUND

    @property
    def headline(self) -> str:
        """Return the verdict in one line, the same wherever it is shown."""
        count = len(self.findings)
        said = f", {count} finding{'s' if count > 1 else ''}" if count else ""
        imported = self.figures.get("evaluator", {}).get(IMPORTED_TOO)
        more = f"; if imported, forged by {imported}" if imported else ""
        return f"{self.verdict}{said} (evaluated in mode {self.mode}{more})"

    @property
    def command(self) -> str:
        """Return the command that audits the same path."""
        return f"evolake audit {shell_word(self.path)}"

    def of(self, part: About) -> list[tuple[int, Finding]]:
        """Return the findings of a part with their numbers."""
        return [(number, item) for number, item in enumerate(self.findings, 1) if item.about == part]

    def to_json(self) -> dict[str, Any]:
        """Return it as one JSON object."""
        return {
            "verdict": self.verdict,
            "path": self.path,
            "project": self.project,
            "mode": self.mode,
            "evolake": __version__,
            "parts": list(self.parts),
            "findings": [{"number": number, **vars(item)} for number, item in enumerate(self.findings, 1)],
            "figures": {part: dict(some) for part, some in self.figures.items()},
            "notes": {part: list(some) for part, some in self.notes.items()},
            "scores": [vars(item) for item in self.scores],
            "history": list(self.history),
        }

    def lines(self) -> list[str]:
        """For people."""
        result = [f"{self.project}: {self.headline}"]
        for part in self.parts:
            result.append(TITLES[part])
            for number, item in self.of(part):
                result += [
                    f"  {number}. {item.name}: {item.reason}",
                    f"     change  {item.change}",
                    f"     again   {item.command}",
                ]
            result += [f"  {name}: {value}" for name, value in self.figures.get(part, {}).items()]
            result += [f"  note: {note}" for note in self.notes.get(part, ())]
        return result


@dataclass(frozen=True)
class Entry:
    """One folder of several. audit: None if there is none, and then error says why. seconds: of the clock."""

    folder: str
    audit: Audit | None
    error: EvolakeError | None
    seconds: float

    def to_json(self) -> dict[str, Any]:
        """Return it as one JSON object."""
        found = self.audit.to_json() if self.audit else {"verdict": UNUSABLE}
        error = self.error.to_json() if self.error else None
        return {**found, "folder": self.folder, "error": error, "seconds": round(self.seconds, 1)}

    def cells(self) -> tuple[str, ...]:
        """Return a row of the table of audits, in the order of `HEADS`."""
        if self.audit is None:
            return (self.folder, UNUSABLE, *[""] * (len(HEADS) - 2))
        figures, by_part = self.audit.figures, self.audit.of
        forged = ", ".join(item.name.partition(":")[0] for _, item in by_part("evaluator"))
        measured, gained = figures.get("measurement", {}), figures.get("gain", {})
        noise = [measured.get(f"standard deviation {name}", "") for name in ("under one seed", "over seeds")]
        found = [str(gained.get(name, "")).partition(" with ")[0] for name in DUMB]
        others = ", ".join(item.name for part in ("measurement", "gain") for _, item in by_part(part))
        tried = str(figures.get("evaluator", {}).get("attacks", "")).partition(" programs")[0]
        return (
            self.folder,
            self.audit.headline,
            tried,
            forged or ("none" if tried else ""),
            *noise,
            *found,
            others,
        )

    def reason(self) -> str:
        """Return in one line why it was not audited; "" if it was."""
        if self.error is None:
            return ""
        error = self.error
        more = (("wanted", error.wanted), ("got", error.got), ("next", error.do))
        return "; ".join([error.what, *(f"{name}: {text}" for name, text in more if text)])


HEADS = ("folder", "verdict", "attacks", "forged", "sd", "sd over seeds", *DUMB, "further findings")
