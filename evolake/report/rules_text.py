"""A preview of rules in words: for a terminal, as one JSON object, in Markdown for Dagster's UI."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from textwrap import shorten
from typing import Any

from evolake.report.numbers import counted
from evolake.report.rules_preview import Fallen, Flip, Preview, evidence_of_line
from evolake.report.rules_work import CycleWork, Work
from evolake.report.story import as_text

EXAMPLES = 5
SHORT_ID = 12
LONGEST_REASON = 160


@dataclass(frozen=True)
class PreviewText:
    """One line's preview with its work. selections: cycle -> what to select of it in Dagster. commands: what
    makes it all again, in order."""

    preview: Preview
    work: Work
    selections: dict[str, str]
    commands: tuple[str, ...]

    def to_json(self) -> dict[str, Any]:
        """Return it as a JSON object; of each rule's flips five are shown, all are counted."""
        preview, work = self.preview, self.work
        return {
            "ruleset_hash": preview.ruleset_hash,
            "judged": preview.judged,
            "rules": {
                rule: {
                    "flips": len(flips),
                    "artifacts": [{"cycle": flip.cycle, "artifact_id": flip.artifact_id} for flip in flips],
                    "examples": [asdict(flip) for flip in flips[:EXAMPLES]],
                }
                for rule, flips in preview.by_rule().items()
            },
            "evidence_lacking": [asdict(fate) for fate in preview.fates if fate.lacking],
            "champions_that_would_fall": [asdict(item) for item in preview.fallen],
            "seeds_that_end_otherwise": work.seeds,
            "make_again_once": list(work.once),
            "make_again": [
                asdict(cycle) | {"selection": self.selections[cycle.cycle]} for cycle in work.cycles
            ],
            "cost": asdict(work.cost),
            "commands": list(self.commands),
        }

    def lines(self) -> list[str]:
        """For a terminal."""
        preview = self.preview
        head = f"{preview.line}: {self.summary()}"
        parts = [head]
        for rule, flips in preview.by_rule().items():
            parts.append(f"  {rule}: {counted(len(flips), 'verdict flips', 'verdicts flip')}")
            parts += [f"    {_flip_text(flip)}" for flip in flips[:EXAMPLES]]
            if len(flips) > EXAMPLES:
                parts.append(f"    and {len(flips) - EXAMPLES} more (--json lists their ids)")
        parts += [f"  {sentence}" for sentence in self.sentences()]
        if self.commands:
            parts.append("  to make that again, and no more:")
            parts += [f"    {command}" for command in self.commands]
        return parts

    def markdown(self) -> str:
        """For Dagster's UI. What candidates are called is text in it."""
        parts = [f"**{self.preview.line}**: {as_text(self.summary())}", ""]
        for rule, flips in self.preview.by_rule().items():
            parts += [
                f"`{rule}`: {counted(len(flips), 'verdict flips', 'verdicts flip')}",
                "",
                "| candidate | cycle | was | would be | why |",
            ]
            parts += ["| --- | --- | --- | --- | --- |", *(_row(flip) for flip in flips[:EXAMPLES]), ""]
        parts += [f"- {as_text(sentence)}" for sentence in self.sentences()]
        parts += ["", "```", *self.commands, "```"] if self.commands else []
        return "\n".join(parts)

    def summary(self) -> str:
        """Return what comes of it, in a sentence."""
        preview = self.preview
        if not preview.fates and not self.work.cycles and not self.work.once:
            return f"the lake is judged by these rules already ({counted(preview.judged, 'candidate')})"
        flips = (
            counted(len(preview.flips), "verdict flips", "verdicts flip")
            if preview.flips
            else "no verdict flips"
        )
        return f"of {counted(len(preview.fates), 'candidate')} that other rules judged, {flips}"

    def sentences(self) -> list[str]:
        """Return what follows from the flips."""
        preview, work = self.preview, self.work
        parts = [_fallen(item) for item in preview.fallen]
        for outcome, why in (
            ("further", "come further than before, to evidence that is collected then"),
            ("unknown", "cannot be judged from what is stored; their evidence is made again"),
        ):
            if number := sum(fate.now == outcome for fate in preview.fates):
                parts.append(f"{counted(number, 'candidate')} {why}")
        if (caution := evidence_of_line(preview.line).caution) and any(
            flip.after == "block" for flip in preview.flips
        ):
            parts.append(caution)
        if work.seeds:
            parts.append(
                f"{counted(work.seeds, 'seed')} would end otherwise: what was sealed stays until `evolake "
                f"seeds reseal {preview.line}`, "
                "which voids every cycle"
            )
        parts += [_work(cycle) for cycle in work.cycles]
        if work.once:
            parts.append(f"of no cycle: {', '.join(work.once)}")
        if work.cycles:
            parts.append(
                "cost, by what it took before (replies in the call cache cost nothing again): "
                f"{work.cost.text()}"
            )
        return parts


def _flip_text(flip: Flip) -> str:
    reason = f": {shorten(flip.reason, LONGEST_REASON, placeholder=' …')}" if flip.reason else ""
    return (
        f"{flip.artifact_id[:SHORT_ID]} {flip.title} (cycle {flip.cycle}) {flip.before} -> "
        f"{flip.after}{reason}"
    )


def _row(flip: Flip) -> str:
    reason = shorten(flip.reason, LONGEST_REASON, placeholder=" …")
    cells = (f"{flip.artifact_id[:SHORT_ID]} {flip.title}", flip.cycle, flip.before, flip.after, reason)
    return f"| {' | '.join(as_text(cell) for cell in cells)} |"


def _fallen(item: Fallen) -> str:
    who = (
        f"{'the champion' if item.is_champion else 'a champion of before,'} {item.title} "
        f"({item.artifact_id[:SHORT_ID]})"
    )
    when = ", once the seeds are sealed again" if item.is_seed else ""
    return f"{who} would fall by {item.rule_id}{when}; it held the title at the end of {_cycles(item.cycles)}"


def _work(item: CycleWork) -> str:
    if item.whole:
        return f"cycle {item.cycle}: whole, for another population enters it"
    after = (
        f", for {counted(item.changes, 'candidate ends', 'candidates end')} otherwise"
        if item.changes
        else ", whose verdicts alone change"
    )
    return f"cycle {item.cycle}: {', '.join(item.assets)}{after}"


def _cycles(cycles: Sequence[str]) -> str:
    return cycles[0] if len(cycles) == 1 else f"{len(cycles)} cycles, {cycles[0]} to {cycles[-1]}"
