"""`evolake families`: take a family through the gates; export and audit are in separate files.

Exit codes: 0 when every family is accepted, 1 when one is blocked, 2 for a folder or file that holds no
family, 3 when the machinery failed.
"""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

import click

from evolake.commands import AS_JSON, PROFILE, LazyGroup, OrdinaryPath
from evolake.families.settings import FamiliesSettings
from evolake.lazy import Lazy
from evolake.terminal import say, say_json

if TYPE_CHECKING:
    from evolake.families.commands.checking import Checked
    from evolake.families.evolution.draft_feedback import PlacedFault
    from evolake.families.evolution.validator_pool import Written
    from evolake.families.gates.blind import Review
    from evolake.families.gates.judging import FamilyResults
    from evolake.families.model.contract import Family


@click.group(
    cls=LazyGroup,
    later={
        "audit": Lazy("evolake.families.commands.auditing:audit"),
        "difficulty": Lazy("evolake.utility.commands:difficulty"),
        "evidence": Lazy("evolake.families.commands.authoring:evidence"),
        "export": Lazy("evolake.families.commands.exporting:export"),
        "external": Lazy("evolake.families.commands.exporting:external"),
        "gallery": Lazy("evolake.families.commands.gallery:gallery"),
        "import-task": Lazy("evolake.families.commands.authoring:import_task"),
        "new": Lazy("evolake.families.commands.authoring:new"),
        "review-sheet": Lazy("evolake.families.commands.auditing:review_sheet"),
        "show": Lazy("evolake.families.commands.exporting:show"),
        "utility": Lazy("evolake.utility.commands:utility"),
    },
    short_help="Check, export and audit verifiable task families.",
)
def families() -> None:
    """Manage verifiable task families: check them, export their instances, have them audited.

    \b
    Examples:
      evolake families new my-family
      evolake families check my-family
    """


@families.command(short_help="Judge the task families in PATH by every gate.")
@click.argument("path", type=OrdinaryPath())
@click.option(
    "--backend",
    type=click.Choice(["operators", "model"]),
    default=None,
    help="Who reviews; default: the setting EVOLAKE_BACKEND.",
)
@click.option(
    "--readers",
    type=click.Choice(["model"]),
    default=None,
    help="Ask readers who see the text alone; kept in the lake (default: none).",
)
@PROFILE
@click.option(
    "--seed",
    type=click.IntRange(min=0),
    default=None,
    help="Root seed of the blind reviews' instances (default: EVOLAKE_SEED, else 0).",
)
@AS_JSON
def check(
    path: Path, backend: str | None, readers: str | None, profile: str | None, seed: int | None, as_json: bool
) -> int:
    """Take the family in PATH through all gates: a folder, a folder of such folders, or a JSONL file with one
    record per line.

    Of a blocked family all faults are listed that the gates find without a model, each with its file and
    line.

    It must differ from the shipped seeds, from what the lake has accepted, and from those before it in PATH.
    The text solver answers it from its text if it can read it (docs/trust.md), and it is printed who solved
    it from its text alone.
    """
    from evolake.agents import open_agents
    from evolake.families.commands.checking import examined_further
    from evolake.families.commands.exporting import relatives
    from evolake.families.evolution.draft_feedback import all_faults
    from evolake.families.evolution.validator_pool import complete
    from evolake.families.gates.judging import FamilyGates
    from evolake.families.sandbox.running import PRELOAD
    from evolake.gates import load_rules
    from evolake.jail import open_pool
    from evolake.settings import load

    chosen: dict[str, Any] = {} if backend is None else {"backend": backend}
    settings = load(profile, **chosen)
    matches, many = read_path(path)
    root_seed = settings.seed if seed is None else seed
    ruleset = load_rules(settings.seeds / "rules", "families")
    others = relatives(settings)
    results: list[Checked] = []
    faults: dict[str, list[PlacedFault]] = {}
    with ExitStack() as stack:
        agents = stack.enter_context(
            open_agents(
                settings, settings.require_lake(), "0001", f"check-{uuid4().hex[:12]}", line="families"
            )
        )
        blind = None
        if readers is not None:
            asked = load(profile, backend=readers)
            blind = stack.enter_context(
                open_agents(
                    asked, asked.require_lake(), "0001", f"readers-{uuid4().hex[:12]}", line="families"
                )
            )
        pool = stack.enter_context(open_pool(workers=1, preload=PRELOAD, mode=settings.jail))
        for family in matches:
            written: list[Written] = []
            whole = complete(
                family,
                pool=pool,
                agents=agents,
                settings=settings.of(FamiliesSettings),
                root_seed=root_seed,
                note=written.append,
            )
            earlier = [item.result for item in results]
            known = [
                *others.fingerprints,
                *(result.fingerprint for result in earlier if result.accepted and result.fingerprint),
            ]
            gates = FamilyGates(
                pool, agents, ruleset, settings.of(FamiliesSettings), "0001", "check", root_seed
            )
            examined = gates(whole, known)
            if not examined.accepted:
                faults[family.name] = all_faults(whole, gates, known)
            checked = examined_further(
                examined, written, pool=pool, readers=blind, settings=settings, root_seed=root_seed
            )
            results.append(checked)
            if not as_json:
                tell(checked)
                found = () if examined.accepted else faults[family.name]
                say(*(f"  {number}. {fault.sentence()}" for number, fault in enumerate(found, start=1)))
    if as_json:
        placed = (
            {"faults": {name: [fault.to_json() for fault in found] for name, found in faults.items()}}
            if faults
            else {}
        )
        say_json(as_object(results, many) | placed | {"compared_with": others.to_json()}, ensure_ascii=False)
    else:
        say(*others.lines())
    return 0 if all(item.result.accepted for item in results) else 1


def read_path(path: Path) -> tuple[list[Family], bool]:
    """Return the families of a folder, of a folder of folders, or of a JSONL file; and whether there may be
    several. Raises InputError."""
    from evolake.families.model.contract import GENERATOR
    from evolake.families.model.family_files import read_families, read_family
    from evolake.families.sandbox.foreign import read_jsonl

    if path.is_file():
        return read_jsonl(path), True
    if path.is_dir() and not (path / GENERATOR).exists() and list(path.glob(f"*/{GENERATOR}")):
        return read_families(path), True
    return [read_family(path)], False


def as_object(results: list[Checked], many: bool) -> dict[str, Any]:
    """Return one family's verdict; for several, one of the whole with the families' own under `families`."""
    matches = [_one(result) for result in results]
    if not many or len(matches) == 1:
        return matches[0]
    blocked = [item for item in matches if item["verdict"] == "blocked"]
    return {
        "verdict": "blocked" if blocked else "accepted",
        "gate": blocked[0]["gate"] if blocked else None,
        "reasons": [f"{item['name']}: {reason}" for item in blocked for reason in item["reasons"]],
        "votes": None,
        "families": matches,
    }


def _one(checked: Checked) -> dict[str, Any]:
    from evolake.families.independence import REVIEWED

    result, verdict = checked.result, checked.result.blocked_by
    votes = None
    if result.sample_votes:
        votes = {
            "instances": len(result.sample_votes),
            "strict_majority": sum(vote.decided for vote in result.sample_votes),
            "for_label": {
                name: sum(name in vote.for_label for vote in result.sample_votes)
                for name in result.family.voters()
            },
            "blind_reviews": len(_blind(result)),
            "blind_matches": sum(review.matched for review in _blind(result)),
            "blind_by": _readers(result),
        }
    return {
        "verdict": checked.verdict,
        "gate": verdict.gate if verdict else None,
        "reasons": [*([verdict.reason] if verdict else []), *_unread(result)],
        "votes": votes,
        "remarks": checked.remarks,
        "text": checked.text or None,
        "independent": checked.independence.to_json(),
        "reviewed": checked.independence.level in REVIEWED,
        "name": result.family.name,
        "family_id": result.family_id,
    }


def _unread(result: FamilyResults) -> list[str]:
    """Return a sentence that says that a family without a reader was blocked for want of one."""
    verdict = result.blocked_by
    if verdict is None or verdict.gate != "blind" or result.family.reader is not None:
        return []
    if any(review.reviewer != "none" for review in _blind(result)):
        return ["there is no reader.py; one was learnt from the slot texts, and it misreads"]
    return [
        "there is no reader.py, and none could be learnt from the slot texts: add one, `read(text)` -> inputs"
    ]


def _blind(result: FamilyResults) -> list[Review]:
    """Return the reviews by models or the family's programs, without those by the text solver."""
    return [review for review in result.reviews if review.reviewer != "text"]


def _readers(result: FamilyResults) -> str:
    """Return who answered the blind reviews: a model, or the family's own programs, which share its author's
    reading."""
    by_model = any(review.reviewer == "model" for review in result.reviews)
    return "a model" if by_model else "its own reader and programs"


def tell(checked: Checked) -> None:
    """Print one family's verdict, who solved it from its text alone, and all remarks."""
    from evolake.families.commands.checking import voter_sentences
    from evolake.families.independence import NONE, REVIEWED

    result = checked.result
    verdict, voters = result.blocked_by, len(result.family.voters())
    if verdict is not None:
        say(f"{result.family.name}: blocked at the gate {verdict.gate!r}: {verdict.reason}")
    else:
        reviews = _blind(result)
        say(
            f"{result.family.name}: {checked.verdict}; its {voters} programs "
            f"{'are not always of one mind' if voter_sentences(result) else 'agree'}; from the text alone "
            f"{_readers(result)} found the label of "
            f"{sum(review.matched for review in reviews)} of {len(reviews)} instances"
            f"{'; nobody else has read the text' if checked.independence.level == NONE else ''}"
        )
        say(f"  family {result.family_id}")
        say(f"  {checked.independence.in_words()}")
        if checked.summary:
            say(f"  {checked.summary}")
        if checked.independence.level not in REVIEWED:
            say("  unreviewed: `families export` leaves it out of a data set unless --unreviewed is given")
    for remark in [*_unread(result), *checked.remarks]:
        say(f"  {remark}")
