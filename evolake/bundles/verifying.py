"""A bundle checked on a machine that need not have the lake it came from: is it whole, and does what it
claims hold when it is run again?

What a bundle brings is untrusted. It is read as bytes and JSON, nothing of it is imported or unpickled here,
and what runs of it runs in the jail.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from evolake.bundles.container import MOST_BYTES, RULES, Bundle, Refused, unpack
from evolake.bundles.exporting import COMMON, ENVIRONMENT, EVALUATIONS, LINEAGE, environment
from evolake.bundles.identity import identity_of
from evolake.bundles.measuring import STATED
from evolake.bundles.model import UNKNOWN, Judging, LineBundle, Said, bundle_of
from evolake.bundles.ruling import ruling
from evolake.errors import InputError, MachineryError
from evolake.gates import Ruleset, load_rules
from evolake.gates.boundary import Raised, contained
from evolake.jail.protocol import one_line
from evolake.reading.files import open_regular
from evolake.report.numbers import counted
from evolake.scratch import Scratch
from evolake.settings import Settings
from evolake.visible import visible

HOLDS, FAILS, NOT_JUDGED = "holds", "does not hold", "cannot be judged here"
EXIT = {HOLDS: 0, FAILS: 1, NOT_JUDGED: 3}
ID = re.compile(r"[0-9a-f]{64}")
FACTS = {"line", "kind", "artifact_id", "title", "state", "evolake", "champion", "identity"}
LONGEST = 600
NAMED = ("line", "kind", "artifact_id")
SHORTEST = 12
"""Characters of a name in the first line."""
CHAMPION = {"cycle", "since", "score", "gain"}
LISTS = {
    "run_again": ("holds", "fails"),
    "open": ("open",),
    "recomputed": ("recomputed",),
    "not_measured_again": ("unmeasured",),
    "only_hashed": ("hashed",),
    "senders_word": ("claimed",),
    "notes": ("note",),
}
"""Lists of the JSON answer, with the outcomes in each."""
DOUBTFUL = {
    "open": "was neither reached beyond the noise nor refuted",
    "not measured again": "was not measured again",
}
HEADS = {
    "holds": "run again",
    "fails": "run again, and NOT so",
    "open": "run again, and open",
    "recomputed": "recomputed from its rows",
    "unmeasured": "not measured again",
    "hashed": "only hashed",
    "claimed": "the sender's word",
    "note": "note",
}


@dataclass(frozen=True)
class Report:
    """What checking a file came to. reason: why it does not hold or cannot be judged; "" where it holds.

    all_asked: every evaluation was to be run again, not a sample.
    """

    verdict: str
    reason: str
    said: tuple[Said, ...]
    facts: Mapping[str, Any]
    root: str
    all_asked: bool = False

    @property
    def exit_code(self) -> int:
        """0, 1 or 3."""
        return EXIT[self.verdict]

    def to_json(self) -> dict[str, Any]:
        """Return what `--json` prints."""
        return {
            "verdict": self.verdict.replace(" ", "_"),
            "reasons": [self.reason] if self.reason else [],
            "root": self.root or None,
            **{name: self.facts.get(name) for name in (*NAMED, "title", "champion", "identity")},
            "gain": self.gain,
            "evaluations": dict(zip(("run_again", "brought"), self.evaluations(), strict=True)),
            **{
                name: [vars(item) for item in self.said if item.outcome in outcomes]
                for name, outcomes in LISTS.items()
            },
        }

    def evaluations(self) -> tuple[int, int]:
        """Return (evaluations that were run again, those that the bundle brings), as far as checking came."""
        counts = [item.again for item in self.said if item.again is not None]
        return sum(again for again, _ in counts), sum(brought for _, brought in counts)

    @property
    def gain(self) -> str | None:
        """Return what became of the stated gain: `measured again`, `not reached`, `open` or `not measured
        again`; None if none is stated."""
        champion = self.facts.get("champion")
        if not isinstance(champion, dict) or not champion.get("gain"):
            return None
        outcomes = {item.outcome for item in self.said if item.gain}
        if bad := [word for name, word in (("fails", "not reached"), ("open", "open")) if name in outcomes]:
            return bad[0]
        return "measured again" if outcomes == {"holds"} and self.verdict == HOLDS else "not measured again"

    def lines(self) -> list[str]:
        """For people."""
        name = " ".join(str(self.facts.get(key) or "")[:SHORTEST] for key in NAMED).strip() or "bundle"
        head = f"{_escaped(name, 200)}: {self.verdict}"
        if self.verdict == HOLDS and any((item.what, item.outcome) == UNKNOWN for item in self.said):
            head += ", by an evaluator that is not known here"
        if self.verdict == HOLDS and self.gain in DOUBTFUL:
            head += f", but for its gain, which {DOUBTFUL[self.gain]}"
        return [
            head + (f": {self.reason}" if self.reason else ""),
            *self._counted(),
            *([f"  root {self.root}"] if self.root else []),
            *([f"  identity {_escaped(self.identity, 80)}"] if self.identity else []),
            *(f"  {HEADS[item.outcome]:<10} {item.what}: {item.said}" for item in self.said),
        ]

    @property
    def identity(self) -> str:
        """Return the hash of what its statements are about; "" if it has none."""
        held = self.facts.get("identity")
        return str(held.get("sha256")) if isinstance(held, dict) else ""

    def _counted(self) -> list[str]:
        """Return how many evaluations were run again, and how to run all."""
        again, brought = self.evaluations()
        if not brought:
            return []
        more = "; --all runs every one that can be run here" if again < brought and not self.all_asked else ""
        return [
            f"  {again} of the {counted(brought, 'evaluation')} that it brings "
            f"{'was' if again == 1 else 'were'} run again{more}"
        ]


def verify(
    path: Path,
    *,
    sample: int | None,
    root: str | None = None,
    identity: str | None = None,
    progress: Callable[[str], None] = lambda _: None,
) -> Report:
    """Return what the file at `path` is worth.

    Args:
        sample: evaluations that are run again, None for all. root, identity: hashes that it must have.
            progress: called with what is done next.

    Raises:
        InputError: there is no such file. Nothing else that the file could be blamed for is raised.
    """
    result = unpack(_bytes(path))
    if isinstance(result, Refused):
        return Report(FAILS, f"it is no whole bundle: {result.reason}", (), {}, "")
    if root is not None and root != result.root:
        return Report(
            FAILS,
            f"its root is {result.root}, not {root}: it is another bundle",
            (),
            result.facts,
            result.root,
        )
    whole = Report(FAILS, "", (), result.facts, result.root)
    if identity is not None and identity != whole.identity:
        return replace(
            whole, reason=f"its identity is {whole.identity or 'missing'}, not {identity}: it is about others"
        )
    from evolake import settings as settings_module

    said: list[Said] = []
    folder = Scratch("bundle")
    try:
        settings = settings_module.load(lake=Path(folder.name) / "lake")
    except InputError:
        folder.cleanup()
        raise
    try:
        with folder:
            done = contained(_collect, result, settings, sample, said, progress)
        reason = done.reason if isinstance(done, Raised) else done
        verdict = FAILS if reason else HOLDS
    except InputError as error:
        verdict, reason = FAILS, str(error).replace("\n ", ";")
    except MachineryError as error:
        verdict, reason = NOT_JUDGED, str(error).replace("\n ", ";")
    return Report(
        verdict,
        _escaped(reason, LONGEST),
        tuple(_shortened(item) for item in said),
        result.facts,
        result.root,
        sample is None,
    )


def _collect(
    bundle: Bundle, settings: Settings, sample: int | None, said: list[Said], progress: Callable[[str], None]
) -> str:
    """Return why the bundle does not hold, "" if nothing speaks against it; `said` grows as things are
    found."""
    try:
        line = _line_of(bundle)
        if other := _other_identity(bundle, line):
            return other
        said += _senders_word(bundle)
        said += _lineage(bundle)
        installed = _installed_rules(settings, bundle.facts["line"], line)
        ruled = ruling(bundle, installed, line.gates)
        said += ruled.said
        judging = Judging(
            bundle,
            settings,
            ruled.asked,
            installed,
            sample,
            settings.require_lake().parent,
            _lake_in_force(),
            progress,
        )
        for item in line.check(judging):
            said.append(item)
            if item.outcome == "fails":
                return f"{item.what}: {item.said}"
        said += unmeasured(bundle, said)
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        return f"what it says cannot be read: {error}"
    return ""


def _line_of(bundle: Bundle) -> LineBundle:
    facts = bundle.facts
    if (
        set(facts) != FACTS
        or not all(isinstance(facts[name], str) for name in FACTS - {"champion", "identity"})
        or not ID.fullmatch(facts["artifact_id"])
    ):
        raise ValueError("its manifest does not say what it is of")
    _require_statement(facts["champion"])
    try:
        line = bundle_of(facts["line"])
    except InputError as error:
        raise MachineryError(error.what, do="install the line that it is of") from None
    if facts["kind"] not in line.kinds:
        raise ValueError(f"the line {facts['line']} bundles no {facts['kind']}")
    own = {name for name in bundle.members if name not in COMMON and not name.startswith(RULES)}
    if strange := sorted(own - set(line.members)):
        raise ValueError(f"it has a member that no bundle of {facts['line']} has: {strange[0]}")
    if missing := [name for name in COMMON if name not in bundle.members]:
        raise ValueError(f"it has no {missing[0]}")
    return line


def _other_identity(bundle: Bundle, line: LineBundle) -> str:
    """Return why the bundle is about something else than its identity says; "" if it is not."""
    stated, found = bundle.facts["identity"], identity_of(line, bundle.facts, bundle.members)
    if stated == found:
        return ""
    held = stated.get("rests_on") if isinstance(stated, dict) else None
    if not isinstance(held, dict):
        return "its manifest does not say what its statements rest on"
    for name, sha in found["rests_on"].items():
        if held.get(name) != sha:
            return (
                f"identity: the {name} in it has the hash {sha[:12]}, and it says {str(held.get(name))[:12]}"
            )
    return f"its identity is {found['sha256'][:12]}, and it says {str(stated.get('sha256'))[:12]}"


def _require_statement(held: Any) -> None:
    """Raise ValueError if what is stated of a champion is not what `exporting` writes."""
    if held is None:
        return
    if (
        not isinstance(held, dict)
        or set(held) != CHAMPION
        or not isinstance(held["score"], int | float | None)
    ):
        raise ValueError("its manifest does not say what is stated of the champion")
    gain = held["gain"]
    if gain is not None and not (
        isinstance(gain, dict) and set(STATED) <= set(gain) and isinstance(gain["text"], str)
    ):
        raise ValueError("its manifest does not say which gain is stated")


def unmeasured(bundle: Bundle, said: list[Said]) -> list[Said]:
    """Return what is stated of a champion and was not looked at by its line."""
    held = bundle.facts["champion"]
    if held is None or not held["gain"] or any(item.gain for item in said):
        return []
    return [Said("gain", "unmeasured", f"stated is: {held['gain']['text']}", gain=True)]


def _installed_rules(settings: Settings, name: str, line: LineBundle) -> Ruleset:
    try:
        ruleset = line.rules() if line.rules else load_rules(settings.seeds / "rules", name)
        return replace(ruleset, rules=tuple(rule for rule in ruleset.rules if rule.gate in line.gates))
    except InputError as error:
        raise MachineryError(
            f"the installed rules of {name} cannot be used: {error.what}", got=error.got, do=error.do
        ) from None


def _lineage(bundle: Bundle) -> list[Said]:
    """Rows of ancestors and edges, looked at as what they are: an ancestor that is not here cannot be run."""
    summary = bundle.read(LINEAGE)
    rows, edges = summary["artifacts"], summary["derivations"]
    ids = [row["artifact_id"] for row in rows]
    if not ids or ids[-1] != bundle.facts["artifact_id"]:
        raise ValueError("its lineage does not end in itself")
    if strange := [edge for edge in edges if edge["child_id"] not in set(ids)]:
        raise ValueError(
            f"its lineage has a parent of {str(strange[0]['child_id'])[:12]}, which is not in it"
        )
    sums: dict[str, float] = {}
    for edge in edges:
        sums[edge["child_id"]] = sums.get(edge["child_id"], 0.0) + float(edge["weight"])
    if odd := [child for child, total in sums.items() if abs(total - 1) > 1e-6]:
        raise ValueError(
            f"in its lineage the shares of the parents of {odd[0][:12]} come to {sums[odd[0]]:.3g}"
        )
    measured = bundle.read(EVALUATIONS)
    if not isinstance(measured, list) or any(row.get("status") == "wrong" for row in measured):
        raise ValueError("its own evaluations have a refuted answer")
    return [
        Said(
            "lineage",
            "hashed",
            f"{counted(len(ids) - 1, 'ancestor')}, {counted(len(edges), 'derivation')} whose shares sum to 1",
        ),
        Said(
            "evaluations",
            "hashed",
            f"{counted(len(measured), 'row')} of the lake; what is run again of them is said below",
        ),
    ]


def _senders_word(bundle: Bundle) -> list[Said]:
    """Return what the bundle says and nothing here depends on."""
    facts = bundle.facts
    return [
        Said("title", "claimed", f"{facts['title']!r}, {facts['state']}, by evolake {facts['evolake']}"),
        *_environment(bundle),
    ]


def _environment(bundle: Bundle) -> list[Said]:
    there, here = bundle.read(ENVIRONMENT), environment()
    differing = [
        f"{name} {there.get(name)} (here {here[name]})"
        for name in ("evolake", "python", "machine", "system")
        if there.get(name) != here[name]
    ]
    packages = there.get("packages") or {}
    differing += [
        f"{name} {packages.get(name)} (here {version})"
        for name, version in here["packages"].items()
        if packages.get(name) not in (version, None)
    ]
    more = f" and {len(differing) - 6} more" if len(differing) > 6 else ""
    return [
        Said(
            "environment",
            "claimed",
            "the same versions as here" if not differing else f"made with {', '.join(differing[:6])}{more}",
        )
    ]


def _lake_in_force() -> Path | None:
    from evolake import settings as settings_module

    try:
        return settings_module.load().require_lake()
    except InputError:
        return None


def _shortened(item: Said) -> Said:
    return replace(item, what=_escaped(item.what, 100), said=_escaped(item.said, LONGEST))


def _escaped(text: str, longest: int) -> str:
    """Return a stranger's text on one line, with what a terminal obeys as escapes."""
    return one_line(visible(text[: 4 * longest]), longest)


def _bytes(path: Path) -> bytes:
    """Return the file's bytes, as many as a bundle may have and one more."""
    try:
        with open_regular(path) as file:
            return file.read(MOST_BYTES + 1)
    except (FileNotFoundError, IsADirectoryError):
        raise InputError(
            f"there is no file {path}",
            wanted="a bundle, as `evolake bundle export` writes it",
            do="check the path",
        ) from None
