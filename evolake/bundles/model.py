"""What a line gives so that its artifacts can be bundled (`LineSpec.bundle`), and what checking one says."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, TypeVar

from evolake.bundles.container import Bundle
from evolake.errors import InputError, MachineryError
from evolake.gates import Ruleset
from evolake.lines import lines
from evolake.report.artifacts import Artifact
from evolake.settings import Settings

if TYPE_CHECKING:
    from evolake.lake import Catalogue, Lake

Outcome = Literal["holds", "fails", "open", "recomputed", "unmeasured", "hashed", "claimed", "note"]
Item = TypeVar("Item")
UNKNOWN: tuple[str, Outcome] = ("evaluator", "claimed")
"""Subject and outcome of what a line says if it does not know here what the artifact is evaluated by."""


@dataclass(frozen=True)
class Carried:
    """What a line puts into a bundle. claims: JSON values, what it says of the artifact that can be run
    again. members: name -> bytes."""

    claims: Mapping[str, Any]
    members: Mapping[str, bytes]


@dataclass(frozen=True)
class Said:
    """One thing that checking a bundle found.

    Attributes:
        what: what was looked at.
        outcome: holds or fails by what was run again; open: it was measured again, and that decides nothing;
            recomputed: it follows from rows of the bundle, which were not run again for it; unmeasured: it
            was not measured again, and `said` has the reason; hashed: not run again, only whole; claimed: the
            sender's word, by which nothing is judged; note: what a reader should know.
        again: (evaluations that were run again for it, those of the kind that the bundle brings); None if it
            is about none.
        gain: it says whether the stated gain is reached.
    """

    what: str
    outcome: Outcome
    said: str
    again: tuple[int, int] | None = None
    gain: bool = False


@dataclass(frozen=True)
class Judging:
    """What checking a bundle needs.

    Attributes:
        settings: of this process, with its own lake in `folder`. asked: rules that it is judged by.
            installed: rules of this machine.
        sample: how many evaluations are run again, None for all. folder: for whatever has to be written.
            cache: the lake in force, for what is
        fetched and built; None if there is none.
    """

    bundle: Bundle
    settings: Settings
    asked: Ruleset
    installed: Ruleset
    sample: int | None
    folder: Path
    cache: Path | None = None
    progress: Callable[[str], None] = field(default=lambda _: None)

    @property
    def artifact_id(self) -> str:
        """Of what is in the bundle, by its manifest."""
        return str(self.bundle.facts["artifact_id"])

    def drawn(self, items: Sequence[Item]) -> list[Item]:
        """Return those that are run again, in their order; drawn so that the maker of the bundle could not
        know which."""
        if self.sample is None or self.sample >= len(items):
            return list(items)
        chosen = set(secrets.SystemRandom().sample(range(len(items)), self.sample))
        return [item for place, item in enumerate(items) if place in chosen]


@dataclass(frozen=True)
class LineBundle:
    """How artifacts of a line are bundled.

    Attributes:
        kinds: those that can be bundled. members: what the line may put into a bundle next to what is common
            to all; others are refused.
        gates: names of the line's gates that such an artifact meets.
        carry: (lake, catalogue, artifact, settings) -> what it puts in; raises InputError where the lake does
            not hold it.
        check: what its claims are worth, by running them again in the jail. Raises ValueError or InputError
            where the bundle says what cannot be (it does not hold then), MachineryError where this machine
            cannot judge.
        rules: the line's installed rules; None: those in its folder of the seeds' rules.
        rests_on: the line's members -> what statements about the artifact rest on, each with its hash; None:
            each member. Raises ValueError if they cannot be read.
    """

    kinds: tuple[str, ...]
    members: tuple[str, ...]
    gates: tuple[str, ...]
    carry: Callable[[Lake, Catalogue, Artifact, Settings], Carried]
    check: Callable[[Judging], Iterable[Said]]
    rules: Callable[[], Ruleset] | None = None
    rests_on: Callable[[Mapping[str, bytes]], Mapping[str, str]] | None = None


def require_allowed(line: str, asked: Mapping[str, float], allowed: Mapping[str, float]) -> None:
    """Check what a bundle asks of this machine: name of a setting of the line, parts joined by `__` -> value.

    Raises:
        MachineryError: it asks for more than this machine's settings allow.
    """
    for name, value in asked.items():
        if not value <= allowed[name]:
            raise MachineryError(
                f"the bundle asks for {name.replace('__', '.')} {value:g}",
                wanted=f"at most {allowed[name]:g}, as this machine's settings say",
                do=f"raise EVOLAKE_{line.upper()}__{name.upper()} to allow it here",
            )


def bundle_of(line: str) -> LineBundle:
    """Return what a line says of bundles.

    Raises:
        InputError: there is no such line, or it has none.
    """
    spec = lines().get(line)
    able = [name for name, item in lines().items() if item.bundle]
    if spec is None:
        raise InputError(f"no line is called {line!r}", wanted=f"one of {', '.join(able)}")
    if not spec.bundle:
        from evolake.report.artifacts import artifacts_of

        what = f"nothing of the line {line} can be bundled"
        why = artifacts_of(line).crowns_none
        raise InputError(
            f"{what}: it has no champion" if why else what, wanted=f"one of {', '.join(able)}", do=why or None
        )
    return spec.bundle.load()
