"""An audit as a bundle: evaluator, programs and findings in one file that is checked by running its findings
again (`evolake bundle verify`).

Nothing of it is trusted. A score is forged again by the program in the bundle, and by the attack of that name
that this evolake makes for the project: a program that is merely good is no forgery. Numbers of a contest are
recomputed from their rows, and programs are compared again on fresh seeds."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from evolake import __version__
from evolake.audits.requests import run_json, run_of_json
from evolake.bundles.container import as_json, pack
from evolake.bundles.exporting import CLAIMS, ENVIRONMENT, EVALUATIONS, LINEAGE, VERDICTS, environment
from evolake.bundles.identity import identity_of
from evolake.bundles.measuring import fresh_seeds
from evolake.bundles.model import UNKNOWN, Carried, Judging, LineBundle, Said
from evolake.canonical_json import key_of
from evolake.errors import InputError
from evolake.gates import Ruleset, load_rules
from evolake.programs.audit.auditing import SEEDS, Asked, Subject, in_mode
from evolake.programs.audit.gains import DUEL, FRESH_SEEDS, Gain, record_of, stated_scores
from evolake.programs.audit.measuring import Part, measurement
from evolake.programs.audit.soundness import SEEDS as FORESEEN
from evolake.programs.audit.soundness import TOLERANCES, Budget, Referee, merit_of, sound
from evolake.programs.audit.verdict import UNKNOWN_MODE, Audit, Finding
from evolake.programs.bundle import require_bearable
from evolake.programs.model.chance import chance_in
from evolake.programs.model.project import Project, pack_files, project_of, unpack_files, with_files
from evolake.programs.sandbox.evaluating import Evaluator
from evolake.programs.settings import ProgramsSettings
from evolake.report.numbers import counted

PROJECT, BEST, RUN = "project.json", "best.json", "run.json"
ATTACK_S, PART_S, ALL_S = 20.0, 30.0, 60.0
"""Processor seconds to forge one score again, for another part, and for all attacks if none is stated."""
FRESH = 12
LINE, KIND = "audits", "audit"


def audit_bundle(asked: Asked, subject: Subject, found: Audit) -> bytes:
    """Return the bundle of an audit.

    Raises:
        InputError: it is larger than a bundle may be.
    """
    members = {
        PROJECT: None if subject.project is None else pack_files(subject.project.files),
        BEST: None if subject.best is None else as_json(subject.best),
        RUN: None if subject.run is None else as_json(run_json(subject.run)),
    }
    own = {name: data for name, data in members.items() if data is not None}
    claims = {"program": bool(asked.program), "parts": list(asked.parts), "audit": found.to_json()}
    artifact_id = id_of(claims, own)
    common = {
        CLAIMS: as_json(claims),
        VERDICTS: as_json({"verdicts": [], "rules": {}}),
        ENVIRONMENT: as_json(environment()),
        LINEAGE: as_json({"artifacts": [{"artifact_id": artifact_id}], "derivations": []}),
        EVALUATIONS: as_json([]),
    }
    facts = {
        "line": LINE,
        "kind": KIND,
        "artifact_id": artifact_id,
        "title": found.project,
        "state": found.verdict,
        "evolake": __version__,
        "champion": None,
    }
    whole = {**common, **own}
    try:
        return pack(facts | {"identity": identity_of(BUNDLE, facts, whole)}, whole)
    except ValueError as error:
        raise InputError(f"the audit of {found.project} cannot be bundled", got=str(error)) from None


def id_of(claims: Mapping[str, Any], own: Mapping[str, bytes]) -> str:
    """Return the id of an audit: the hash of all that it states and of what it is about."""
    return key_of([claims, {name: key_of(data.decode()) for name, data in sorted(own.items())}])


def carry(*_: Any) -> Carried:
    """Refuse: an audit is no artifact of a lake.

    Raises:
        InputError: always.
    """
    raise InputError("an audit is bundled when it is made", do="evolake audit PATH --bundle FILE")


def check(judging: Judging) -> Iterator[Said]:
    """Yield what the statements of an audit are worth here."""
    claims = judging.bundle.read(CLAIMS)
    audit = Audit.of_json(claims["audit"])
    stated = judging.bundle.facts
    if (stated["state"], stated["title"]) != (audit.verdict, audit.project):
        yield Said("verdict", "fails", f"its findings make it {audit.verdict}, and it says {stated['state']}")
        return
    own = {name: data for name, data in judging.bundle.members.items() if name in (PROJECT, BEST, RUN)}
    if stated["artifact_id"] != id_of(claims, own):
        yield Said("verdict", "fails", "its id is not that of what it states")
        return
    again = _Again(judging, claims, audit)
    yield from again.record()
    if not audit.parts or (again.project is None) != (audit.mode == UNKNOWN_MODE):
        what = "an evaluator" if audit.parts else "a part of an audit"
        yield Said("verdict", "fails", f"it rests on {what} that is not in the bundle")
        return
    if again.project is None:
        yield Said("evaluator", "unmeasured", "the bundle has no evaluator, so that nothing can be run again")
        return
    yield Said(
        *UNKNOWN,
        "that evaluator and programs are those of the task is the sender's word; compare the identity",
    )
    for about, some in (
        ("evaluator", again.evaluator),
        ("measurement", again.measured),
        ("gain", again.gained),
    ):
        if about in audit.parts:
            yield from some()
        else:
            yield Said(about, "unmeasured", "the audit does not have this part")


class _Again:
    """Runs the parts of an audit again. project, best: of the bundle, within this machine's limits."""

    def __init__(self, judging: Judging, claims: Mapping[str, Any], audit: Audit):
        bundle, settings = judging.bundle, judging.settings
        self.judging, self.claims, self.audit, self.settings = judging, claims, audit, settings
        self.own = settings.of(ProgramsSettings)
        self.run = run_of_json(bundle.read(RUN)) if RUN in bundle.members else None
        self.project: Project | None = None
        self.best: Mapping[str, str] | None = None
        if PROJECT in bundle.members:
            project = project_of(audit.project, unpack_files(bundle.members[PROJECT]))
            require_bearable(project, self.own, self.own, 0)
            modes = {"imports", "calls", "separate"}
            if audit.mode not in modes:
                raise ValueError("it does not say how evaluator and program met")
            self.project = in_mode(project, audit.mode, self.own, settings)  # pyright: ignore[reportArgumentType]
            if BEST in bundle.members:
                text = bundle.read(BEST)
                if not isinstance(text, str):
                    raise ValueError("its best program is no text")
                self.best = {**project.evolving, **with_files(project, {project.main: text}).evolving}

    def findings(self, about: str) -> list[tuple[str, Finding]]:
        """Return the stated findings of a part, each with the name that it is reported under."""
        return [
            (f"finding {number}, {item.name}", item)
            for number, item in enumerate(self.audit.findings, 1)
            if item.about == about
        ]

    def record(self) -> Iterator[Said]:
        """Yield whether what is stated of the run's record follows from the run."""
        if self.run is None or "gain" not in self.audit.parts:
            return
        found, stated = record_of(self.run, self.project).figures, self.audit.figures["gain"]
        if wrong := [name for name, value in found.items() if stated.get(name) != value]:
            name = wrong[0]
            yield Said(
                "record of the run", "fails", f"{name}: it is {found[name]}, and it says {stated.get(name)}"
            )
            return
        said = (
            f"{counted(len(self.run.candidates), 'candidate')}; that they are the run's is the sender's word"
        )
        yield Said("record of the run", "recomputed", said)

    def evaluator(self) -> Iterator[Said]:
        """Yield whether scores are forged again; if none is stated, whether one can be forged here."""
        assert self.project is not None
        self.judging.progress("attacks")
        given = {"best": self.best, "workers": self.settings.workers, "jail": self.settings.jail}
        with Referee(self.project, self.own, fresh_seeds(SEEDS), **given) as referee:
            stated = self.findings("evaluator")
            for name, item in stated:
                yield self._forged(referee, name, item)
            if stated:
                return
            found = sound(referee, Budget(ALL_S), "evolake audit PROJECT")
            if found.findings:
                yield Said(
                    "no forged score", "fails", f"here {found.findings[0].name}: {found.findings[0].reason}"
                )
            else:
                yield Said(
                    "no forged score", "holds", f"{found.tried} of {found.made} attacks were tried here"
                )

    def _forged(self, referee: Referee, name: str, item: Finding) -> Said:
        kind, _, group = item.name.partition(": ")
        self.judging.progress(name)
        only = kind if kind in (FORESEEN, TOLERANCES) else group
        try:
            found = sound(referee, Budget(ATTACK_S), "evolake audit PROJECT", only)
        except InputError:
            return Said(name, "unmeasured", "this evolake has no such attack")
        same = [one for one in found.findings if one.name.partition(": ")[0] == kind]
        if not same:
            if found.tried < found.made:
                return Said(name, "unmeasured", "the attack was not tried in the time")
            return Said(name, "fails", "the attack of that name forges no score here")
        if kind in (FORESEEN, TOLERANCES):
            return Said(name, "holds", same[0].reason)
        merit = referee.forged(item.program)
        if merit is None:
            return Said(name, "fails", "its program scores no better than the initial program here")
        sign = 1 if referee.project.higher_is_better else -1
        if item.program != same[0].program:
            return Said(
                name,
                "open",
                f"this evolake's own attack forges; the stated program is another one, which scores "
                f"{sign * merit:.6g} and may be merely good",
            )
        return Said(name, "holds", f"the attack forges again, {sign * merit:.6g}")

    def measured(self) -> Iterator[Said]:
        """Yield whether what is wrong with the measurement is found again, and nothing else."""
        assert self.project is not None
        stated = self.findings("measurement")
        self.judging.progress("measurement")
        part = measurement(
            self.project,
            self.own,
            fresh_seeds(8),
            Budget(PART_S),
            "evolake audit PROJECT",
            self.settings.jail,
        )
        names = {item.name: item.reason for item in part.findings}
        for name, item in stated:
            # noise of time and load is the machine's: what is not seen here is not refuted
            missing = "fails" if item.name == "saturated" else "open"
            outcome = "holds" if item.name in names else missing
            yield Said(name, outcome, names.get(item.name, "not seen on this machine"))
        known = {item.name for _, item in stated}
        for name in sorted(names.keys() - known):
            yield Said(f"measurement, {name}", "open" if name == "load" else "fails", f"here {names[name]}")
        if not (stated or names):
            yield Said("measurement", "holds", "nothing was found here either")

    def gained(self) -> Iterator[Said]:
        """Yield whether the contest follows from its rows, and is decided so again on fresh seeds."""
        project, best = self.project, self.best
        assert project is not None
        names = {item.name for _, item in self.findings("gain")}
        rows = {
            side: [item for item in self.audit.scores if item.side == name and item.about == "gain"]
            for side, name in DUEL.items()
        }
        stated, held = self.audit.figures["gain"], bool(rows["champion"] and rows["challenger"])
        if held != (FRESH_SEEDS in stated) or ("gain" in stated and not held) or (best is None and held):
            yield Said("contest", "fails", "its figures, its rows or its best program are missing")
            return
        if best is not None and held:
            sign = 1 if project.higher_is_better else -1
            scores = {
                side: [None if one.score is None else sign * one.score for one in some]
                for side, some in rows.items()
            }
            seedless = not chance_in(project, [project.evolving, best])
            seeds = [one.seed for one in rows["champion"]]
            decision, figures = self._gain(project, seeds).decided(scores, seedless)
            wrong = [name for name in ("gain", *figures) if stated.get(name) != figures.get(name)]
            if wrong or decision["wins"] == ("not shown" in names):
                why = f"{wrong[0]}: {figures.get(wrong[0])}" if wrong else decision["reason"]
                yield Said("contest", "fails", f"by its own rows it is {why}")
                return
            yield Said("contest", "recomputed", f"from {counted(len(seeds), 'seed')}: {decision['reason']}")
            yield from self._evaluated(project, {"champion": project.evolving, "challenger": best}, rows)
        yield from self._fresh(project, best, names)

    def _gain(self, project: Project, seeds: Sequence[int]) -> Gain:
        return Gain(project, self.own, seeds, Budget(PART_S), "evolake audit PROJECT", self.settings.jail)

    def _evaluated(
        self, project: Project, texts: Mapping[str, Mapping[str, str]], rows: Mapping[str, Sequence[Any]]
    ) -> Iterator[Said]:
        """Yield whether single evaluations of the contest give the same score again."""
        pairs = [(side, row) for side in texts for row in rows[side]]
        drawn = self.judging.drawn(pairs)
        sign = 1 if project.higher_is_better else -1
        with Evaluator(project, self.own, mode=self.settings.jail) as evaluator:

            def score(side: str, seed: int) -> float | None:
                merit = merit_of(project, evaluator.evaluate(texts[side], seed))
                return None if merit is None else sign * merit

            noisy = False
            for side, row in drawn:
                self.judging.progress(f"{DUEL[side]}, seed {row.seed}")
                here = score(side, row.seed)
                same = here == row.score or (
                    here is not None
                    and row.score is not None
                    and math.isclose(here, row.score, rel_tol=1e-9, abs_tol=1e-12)
                )
                if not same and (noisy := noisy or here != score(side, row.seed)):
                    continue
                if not same:
                    said = (
                        f"{DUEL[side]} under seed {row.seed}: it claims {row.score}, and measured is {here}"
                    )
                    yield Said("evaluations of the contest", "fails", said)
                    return
        said = (
            "scores have noise here; the contest on fresh seeds decides" if noisy else "the same scores again"
        )
        yield Said("evaluations of the contest", "holds", said, (len(drawn), len(pairs)))

    def _fresh(self, project: Project, best: Mapping[str, str] | None, names: set[str]) -> Iterator[Said]:
        """Yield what a contest and dumb searches say on seeds that the sender could not know."""
        self.judging.progress("contest on fresh seeds")
        gain = self._gain(project, fresh_seeds(max(FRESH, self.own.heldout_repeats)))
        stated = stated_scores(self.run, project) if self.run and not self.claims["program"] else ()
        if best is not None:
            part = gain.compared(best, *stated)
            found = {item.name: item.reason for item in part.findings}
            if "not shown" in names:
                outcome = "holds" if "not shown" in found else "fails"
                yield Said(
                    "no gain", outcome, found.get("not shown", f"here it is {part.figures.get('gain')}")
                )
            else:
                outcome = "open" if "not shown" in found else "holds"
                yield Said("gain", outcome, found.get("not shown", str(part.figures.get("gain"))))
            if "not reproduced" in names:
                outcome = "holds" if "not reproduced" in found else "fails"
                yield Said(
                    "not reproduced", outcome, found.get("not reproduced", "the stated score is reached here")
                )
            elif "not reproduced" in found:
                yield Said("recorded score", "fails", found["not reproduced"])
        if "dumb search" in names:
            self.judging.progress("dumb searches")
            searched = self._gain(project, gain.seeds)
            evaluations = self.run.evaluations if self.run else None
            rules = load_rules(self.settings.seeds / "rules", "programs")
            searches = Part("gain")
            searched.dumb(searches, best, evaluations, rules, self.settings.workers)
            hit = next((item.reason for item in searches.findings), "")
            yield Said("dumb search", "holds" if hit else "open", hit or "it did not come as far here")


BUNDLE = LineBundle((KIND,), (PROJECT, BEST, RUN), (), carry, check, rules=lambda: Ruleset(LINE, ()))
