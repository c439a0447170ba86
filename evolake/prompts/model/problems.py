"""Problem sets: where they come from, and which problems are never trained on.

A setting lists sources in order of preference. The first one with enough problems on both sides of the split
is used, and the set says which that was and why those before it were passed over. If settings name files for
both sides (`problem_files`), those are used. Families are in this list only if they may be all of an
iteration's problems; else their instances are added to a cycle's problems one by one
(`evolake.prompts.evolution.feeding`), and what is held out is of another source, the same in every cycle.

All problems of one family are on one side of the split, by the hash of the family's id alone, so a later and
larger set moves none; families of the lake by the ids of the roots that they descend from, so that no
held-out family shares an ancestor with one to train on; and a text is on one side only. What ships names its
families, the primers, where the lake has hashes of content: a family of the lake with a name that ships is on
the side of that name, with all that descends from it (`shipped_names`, `family_roots`). Families of two
lineages may share long sequences of words all the same: held-out problems that have too much of them in
common with problems to train on are left out.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from evolake.answers.asking import AnswerFormat, answer_forms, request
from evolake.errors import InputError
from evolake.lake import Lake, following, preceding
from evolake.lake.population import held, roots_of
from evolake.prompts.model.label_checks import probe_verifiers, renamed
from evolake.prompts.model.leaks import find_leaks, overlap
from evolake.prompts.model.problem_files import GYM, gym_problems, read_side
from evolake.prompts.model.protocol import Problem, Split
from evolake.prompts.settings import PromptsSettings
from evolake.reading import DATA_BYTES, Unreadable, parse_json, read_text, reason

FILE = "problems.jsonl"
FAMILIES = "families"
SHIPPED = "shipped\x1f"
LEFT_OUT = ", and are left out"
_FIELDS = ("problem_id", "text", "answer", "case_sensitive", "category", "difficulty", "family")


@dataclass(frozen=True)
class ProblemSet:
    """train: problems to train on. heldout: problems to evaluate on, in an order that the seed fixes. source:
    where they come from. passed_over: "source: why" for each that was preferred to it. contamination: what
    the held-out problems have in common with those to train on."""

    train: tuple[Problem, ...]
    heldout: tuple[Problem, ...]
    source: str
    passed_over: tuple[str, ...] = ()
    contamination: str = ""

    @property
    def all(self) -> tuple[Problem, ...]:
        """Both sides, the ones for training first."""
        return self.train + self.heldout


def problem_set(
    settings: PromptsSettings,
    *,
    lake: Lake | None,
    seeds: Path,
    seed: int,
    cycles: Sequence[str] | None = None,
) -> ProblemSet:
    """Return the problems of a run or a cycle.

    Args:
        lake: where the source `families` reads; None passes it over. seeds: the folder of seeds, with
            prompts/problems.jsonl.
        seed: of reasoning-gym's problems and of the order of the held-out ones. cycles: of the families line;
            None: all that are finished.

    Raises:
        InputError: no source has enough problems; says what each lacks. Of files: one side is not given or
            too small, or the sides overlap too much.
    """
    if settings.train or settings.test:
        return _of_files(settings, seed)
    if settings.scorer:
        raise InputError(
            "EVOLAKE_PROMPTS__SCORER scores replies to problems of files, and no file is named",
            wanted="EVOLAKE_PROMPTS__TRAIN and EVOLAKE_PROMPTS__TEST",
            got=settings.scorer,
            do="set both, or take EVOLAKE_PROMPTS__SCORER out",
        )
    lacking: list[str] = []
    for source in _in_order(settings):
        try:
            result = _read(source, settings, lake, seeds, seed, cycles)
        except InputError as error:
            lacking.append(f"{source}: {error.what}")
            continue
        roots = (
            family_roots(lake, cycles, shipped_names(seeds))
            if source == FAMILIES and lake is not None
            else {}
        )
        train, heldout = split(of_difficulty(result, settings.difficulties), settings.heldout_share, roots)
        common = overlap(
            train, heldout, words=settings.contamination_words, share=settings.contamination_share
        )
        taken = {item.problem_id for item, _ in common.contaminated}
        clean = [item for item in heldout if item.problem_id not in taken]
        if len(train) >= settings.batch_problems and len(clean) >= settings.heldout_problems:
            drawn = _drawn(clean, settings.heldout_problems, seed)
            return ProblemSet(
                tuple(train), drawn, source, tuple(lacking), common.sentence() + (LEFT_OUT if taken else "")
            )
        lacking.append(
            f"{source}: {len(train)} problems to train on and {len(clean)} held out"
            + (f", {len(taken)} contaminated ones left out" if taken else "")
        )
    raise InputError(
        "no source has enough problems",
        wanted=f"{settings.batch_problems} to train on and {settings.heldout_problems} held out",
        got="; ".join(lacking),
        do=(
            "widen EVOLAKE_PROMPTS__DIFFICULTIES or EVOLAKE_PROMPTS__PROBLEM_SOURCES, or run more cycles "
            "of families"
        ),
    )


def _of_files(settings: PromptsSettings, seed: int) -> ProblemSet:
    """Return the problems of `settings.train` and `settings.test`, without held-out ones that are among those
    to train on."""
    if not settings.train or not settings.test:
        given, missing = (
            f"EVOLAKE_PROMPTS__{name}"
            for name in (("TRAIN", "TEST") if settings.train else ("TEST", "TRAIN"))
        )
        raise InputError(
            f"{given} is set and {missing} is not",
            wanted="problems for both sides",
            do=f"set {missing}, or neither",
        )
    train = of_difficulty(
        _side(settings.train, "train", settings, seed), settings.train_difficulties or settings.difficulties
    )
    test = of_difficulty(
        _side(settings.test, "heldout", settings, seed), settings.test_difficulties or settings.difficulties
    )
    probe_verifiers([*train, *test], settings.answer_format)
    generated = settings.train.startswith(GYM) and settings.test.startswith(GYM)
    if generated:
        shared = {plain(item.text) for item in test}
        train = [item for item in train if plain(item.text) not in shared]
    ids = {item.problem_id for item in train} & {item.problem_id for item in test}
    test = [renamed(item) if item.problem_id in ids else item for item in test]
    common = find_leaks(
        train,
        test,
        words=settings.contamination_words,
        share=settings.contamination_share,
        generated=generated,
    )
    if common.part > settings.contamination_limit:
        first, other, how = common.leaked[0]
        raise InputError(
            "the sides of the problems overlap",
            wanted=f"at most {settings.contamination_limit:.1%} of the held-out problems",
            got=(
                f"{common.sentence()}; {how}: {' '.join(first.text.split())[:80]!r} in {settings.test} is "
                f"{' '.join(other.text.split())[:80]!r} in {settings.train}"
            ),
            do=(
                "take them out of one file, or say by EVOLAKE_PROMPTS__CONTAMINATION_LIMIT, _SHARE and "
                "_WORDS what you accept"
            ),
        )
    taken = {item.problem_id for item, _, _ in common.leaked}
    clean = [item for item in test if item.problem_id not in taken]
    apart = {plain(item.text) for item in clean}
    train = [item for item in train if plain(item.text) not in apart]
    if len(train) < settings.batch_problems or len(clean) < settings.heldout_problems:
        raise InputError(
            "the files have not enough problems",
            wanted=f"{settings.batch_problems} to train on and {settings.heldout_problems} held out",
            got=f"{len(train)} in {settings.train} and {len(clean)} in {settings.test}"
            + (f", {len(taken)} left out" if taken else ""),
            do="widen the difficulties, or set EVOLAKE_PROMPTS__HELDOUT_PROBLEMS lower",
        )
    drawn = _drawn(clean, settings.heldout_problems, seed)
    return ProblemSet(
        tuple(train),
        drawn,
        f"{settings.train} and {settings.test}",
        (),
        common.sentence() + (LEFT_OUT if taken else ""),
    )


def _side(place: str, side: Split, settings: PromptsSettings, seed: int) -> list[Problem]:
    return read_side(
        place,
        side,
        gym_problems=settings.gym_problems,
        seed=seed,
        answer_format=settings.answer_format,
        columns=None if place.startswith(GYM) else settings.columns,
        scorer=None if place.startswith(GYM) else settings.scorer,
    )


def split(
    problems: Iterable[Problem], heldout_share: float, roots: Mapping[str, Collection[str]] | None = None
) -> tuple[list[Problem], list[Problem]]:
    """Return (to train on, held out), each in the order given. Of problems with one text the first stays; a
    text that is held out is not trained on.

    roots: family -> the roots that it descends from; one that is not named is its own. Problems of a family
    with roots on both sides are left out.
    """
    train: dict[str, Problem] = {}
    heldout: dict[str, Problem] = {}
    for problem in problems:
        where = held(problem.family, roots or {}, lambda root: _held(root, heldout_share))
        if where is not None:
            (heldout if where else train).setdefault(
                plain(problem.text), replace(problem, split="heldout" if where else "train")
            )
    return [problem for text, problem in train.items() if text not in heldout], list(heldout.values())


DIGITS = 4300
"""Digits of a number in an answer."""


def read_problems(path: Path, answer_format: AnswerFormat = "boxed") -> list[Problem]:
    """Return problems of a JSONL file: one object per line with the fields of Problem but split and source;
    others are passed over.

    A line with a `language` is a statement alone: the request for the answer is added, in this format and
    that language. Any other asks by itself.

    Raises:
        InputError: there is no such file, or a line is no problem; names the line.
    """
    try:
        lines = read_text(path, DATA_BYTES).split("\n")  # U+2028 may be part of a JSON text
    except (OSError, Unreadable) as error:
        raise InputError(
            f"the problems in {path} cannot be read", wanted="a file of JSON lines", got=reason(error)
        ) from None
    result, languages = [], []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            values = parse_json(line, name="it", digits=DIGITS)
            parse_json(values["answer"], name="its answer", digits=DIGITS)
            result.append(
                Problem(**{name: values[name] for name in _FIELDS}, split="train", source="shipped")
            )
            languages.append(values.get("language"))
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            got = reason(error) if isinstance(error, InputError) else repr(error)
            raise InputError(
                f"line {number} of {path} is no problem", wanted=f"JSON with {', '.join(_FIELDS)}", got=got
            ) from None
    forms = answer_forms({"family_id": item.family, "answer": item.answer} for item in result)
    return [
        replace(item, text=f"{item.text}\n\n{request(language, forms.get(item.family), answer_format)}")
        if language
        else item
        for item, language in zip(result, languages, strict=True)
    ]


def family_problems(
    lake: Lake, cycles: Sequence[str] | None = None, answer_format: AnswerFormat = "boxed"
) -> list[Problem]:
    """Return the instances of accepted families in these cycles of the families line (None: all finished
    ones), asking for an answer in this format.

    Families with checkers are left out: their label is one of many correct answers, and a reply cannot be
    compared with it.

    Raises:
        InputError: there is no finished cycle.
    """
    done = finished_families(lake) if cycles is None else cycles
    if not done:
        raise InputError(
            "the lake holds no finished cycle of the families line", do="run: evolake run --lines families"
        )
    archive = lake.read(FAMILIES, "incoming_families", following(done[-1]))
    accepted = {row["family_id"] for row in archive.to_dicts() if row["state"] == "accepted"}
    drawn = [
        row
        for cycle in done
        for row in lake.read(FAMILIES, "instances", cycle).to_dicts()
        if row["family_id"] in accepted
    ]
    checked = _families_with_checkers(lake, archive.to_dicts(), {row["family_id"] for row in drawn})
    rows = [row for row in drawn if row["family_id"] not in checked]
    forms = answer_forms(rows)
    return [_of_family(row, forms.get(row["family_id"]), answer_format) for row in rows]


def _families_with_checkers(
    lake: Lake, families: Iterable[Mapping[str, Any]], among: Collection[str]
) -> set[str]:
    """Return the families, of those named, whose record has checkers. A row without a record, of a lake of
    before, has none."""
    shas = {row["family_id"]: row.get("record_sha") for row in families if row["family_id"] in among}
    return {family for family, sha in shas.items() if sha and json.loads(lake.blobs.get(sha)).get("checkers")}


def of_difficulty(problems: Iterable[Problem], wanted: Collection[int] | None) -> list[Problem]:
    """Return those of these difficulties; None: all."""
    return [problem for problem in problems if wanted is None or problem.difficulty in wanted]


def family_roots(
    lake: Lake, cycles: Sequence[str] | None = None, names: Collection[str] = ()
) -> dict[str, frozenset[str]]:
    """Return family -> the roots that it descends from, for all families of the line after these cycles
    (None: all finished ones).

    names: of families that ship (`shipped_names`). A family with such a name, or such an id, has that as a
    root in place of its id, next to the roots of its parents; so have its descendants.
    """
    done = finished_families(lake) if cycles is None else cycles
    parents: dict[str, Sequence[str]] = {}
    for family, name, above in (
        lake.read(FAMILIES, "incoming_families", following(done[-1]))
        .select("family_id", "name", "parents")
        .iter_rows()
    ):
        parents[family] = [*(above or ()), *(SHIPPED + item for item in (name, family) if item in names)]
    result = roots_of(parents)
    return {
        family: frozenset(root.removeprefix(SHIPPED) for root in roots)
        for family, roots in result.items()
        if family in parents
    }


def shipped_names(seeds: Path) -> frozenset[str]:
    """Return the families of all problems that ship, by which those of the lake are shown that may be the
    same; none if nothing ships.

    Raises:
        InputError: a line of the file is no problem.
    """
    path = seeds / "prompts" / FILE
    return frozenset(problem.family for problem in read_problems(path)) if path.is_file() else frozenset()


def finished_families(lake: Lake) -> list[str]:
    """Return the cycles of the families line whose successor's population is sealed on an unbroken chain,
    oldest first."""
    done: list[str] = []
    for cycle in lake.seals.cycles(FAMILIES)[1:]:
        if lake.seals.broken_link(FAMILIES, cycle):
            break
        done.append(str(preceding(cycle)))
    return done


def _in_order(settings: PromptsSettings) -> list[str]:
    """Return the sources that a set may be of as a whole, in order of preference."""
    others = [source for source in settings.problem_sources if source != FAMILIES]
    return list(settings.problem_sources) if settings.families_share == 1 or not others else others


def _read(
    source: str,
    settings: PromptsSettings,
    lake: Lake | None,
    seeds: Path,
    seed: int,
    cycles: Sequence[str] | None,
) -> list[Problem]:
    if source == "shipped":
        return read_problems(seeds / "prompts" / FILE, settings.answer_format)
    if source == "reasoning-gym":
        return gym_problems(
            settings.gym_tasks, settings.gym_problems, seed, answer_format=settings.answer_format
        )
    if lake is None:
        raise InputError("there is no lake")
    return family_problems(lake, cycles, settings.answer_format)


def _of_family(row: dict[str, Any], form: type | None, answer_format: AnswerFormat) -> Problem:
    text = f"{row['text']}\n\n{request(row['language'], form, answer_format)}"
    return Problem(
        row["instance_id"],
        text,
        row["answer"],
        row["case_sensitive"],
        row["category"],
        row["difficulty"],
        "train",
        "families",
        row["family_id"],
    )


def _drawn(heldout: Sequence[Problem], count: int, seed: int) -> tuple[Problem, ...]:
    """`count` of them, by the hash of seed and id: another number of problems changes no other choice."""
    return tuple(sorted(heldout, key=lambda item: _sha(f"{seed}\x1f{item.problem_id}"))[:count])


def _held(family: str, share: float) -> bool:
    return int(_sha(f"heldout\x1f{family}")[:12], 16) < share * 16**12


def plain(text: str) -> str:
    """Return what makes two texts one: without regard to spaces and case."""
    return " ".join(text.split()).casefold()


def _sha(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()
