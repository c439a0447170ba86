"""The checks that the rules of the families line name: pure functions of collected evidence.

Evidence of the gates: execution (evolake.families.gates.execution), static (static), quality (judging),
consensus (consensus), blind (blind), sentences (sentences).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evolake.families.gates.static import commonest_share, rises
from evolake.gates import Finding, checker

Evidence = Mapping[str, Any]
FITS = {
    "integer": {"integer"},
    "number": {"integer", "number", "string"},
    "boolean": {"boolean"},
    "string": {"string"},
    "list": {"list"},
    "mapping": {"mapping"},
    "any": {"integer", "number", "boolean", "string", "list", "mapping"},
}
"""Declared answer type -> types that validators may return; a fraction comes as a string."""


@checker("families.instances")
def instances(evidence: Evidence) -> Finding | None:
    """Every instance came."""
    for difficulty, seed, status, reason in evidence["instances"]:
        if status != "ok":
            return Finding(f"input({difficulty}) with seed {seed}: {status}: {reason}")
    return None


@checker("families.determinism")
def determinism(evidence: Evidence) -> Finding | None:
    """Twice the same, for instances and for answers."""
    if evidence["unstable_instances"]:
        text = (
            f"{evidence['unstable_instances']} of {len(evidence['instances'])} instances differ between "
            "two runs with the same seed"
        )
        return Finding(f"{text} (at two dates, in two time zones, with sets in two orders)")
    for name, voter in evidence["voters"].items():
        if voter["unstable"]:
            return Finding(
                f"validator {name}: {voter['unstable']} of {len(evidence['instances'])} answers differ "
                "between two runs on one input"
            )
    return None


@checker("families.slots")
def slots(evidence: Evidence) -> Finding | None:
    """Slots of the template and texts of the generator fit."""
    wanted, given = evidence["slots"], evidence["slot_texts"]
    if wanted != list(range(1, len(wanted) + 1)):
        return Finding(f"the template's slots are {wanted}, wanted 1 to n without gaps")
    if given != [len(wanted)]:
        return Finding(
            f"the template has {len(wanted)} slots and the generator gives {' or '.join(map(str, given))} "
            "slot texts"
        )
    return None


@checker("families.primary")
def primary(evidence: Evidence) -> Finding | None:
    """Check that the primary answers, in the declared type."""
    voter = evidence["voters"].get("primary")
    if voter is None:
        return Finding("the primary validator was not run: there were no instances")
    if voter["failures"]:
        status, reason = voter["failures"][0]
        return Finding(
            f"solution failed on {len(voter['failures'])} of {len(evidence['instances'])} instances: "
            f"{status}: {reason}"
        )
    if wrong := sorted(set(voter["types"]) - FITS[evidence["answer_type"]]):
        return Finding(f"solution returned {wrong[0]}, the family declares {evidence['answer_type']}")
    return None


@checker("families.confined")
def confined(evidence: Evidence) -> Finding | None:
    """No validator leaves its limits, also on inputs of another form."""
    from evolake.families.gates.execution import UNSAFE

    for name, voter in evidence["voters"].items():
        for status, reason in voter["failures"]:
            if status in UNSAFE:
                return Finding(f"validator {name}: {status}: {reason}")
        for status, reason in voter["unsafe_probes"]:
            return Finding(f"validator {name}, on inputs of another form: {status}: {reason}")
    return None


@checker("families.pure_checkers")
def pure_checkers(evidence: Evidence) -> Finding | None:
    """Checkers do nothing but compute."""
    impure = evidence.get("impure")
    return (
        Finding(
            f"checker {impure[0][0]}, {impure[0][1]}: a checker may not use it, for exports carry it to "
            "trainers"
        )
        if impure
        else None
    )


@checker("families.sample_runs")
def sample_runs(evidence: Evidence) -> Finding | None:
    """Check that the larger sample ran as well."""
    if evidence["failed"]:
        status, reason = evidence["failed"][0]
        return Finding(
            f"{len(evidence['failed'])} instances or answers of the sample failed: {status}: {reason}"
        )
    return None


@checker("families.unfilled")
def unfilled(evidence: Evidence) -> Finding | None:
    """No open slot or rule."""
    return (
        Finding(f"the statement still holds {', '.join(evidence['unfilled'])}")
        if evidence["unfilled"]
        else None
    )


@checker("families.drawing")
def drawing(evidence: Evidence) -> Finding | None:
    """No grid or tree of characters."""
    return (
        Finding(f"the statement draws with characters: {evidence['drawing']}; write it as an array")
        if evidence["drawing"]
        else None
    )


@checker("families.length")
def length(evidence: Evidence, *, shortest: int, longest: int) -> Finding | None:
    """Statements of bearable length."""
    if evidence["shortest"] < shortest:
        return Finding(f"a statement has {evidence['shortest']} characters; at least {shortest} are wanted")
    return (
        Finding(f"a statement has {evidence['longest']} characters; at most {longest} are wanted")
        if evidence["longest"] > longest
        else None
    )


@checker("families.leak")
def leak(evidence: Evidence, *, largest_share: float) -> Finding | None:
    """No place of the statement holds the answer."""
    share = evidence["leak_share"]
    place = evidence["leak_place"]
    return (
        Finding(f"the answer stands in the text: {place} is it in {share:.0%} of the instances")
        if share >= largest_share
        else None
    )


@checker("families.distinct")
def distinct(evidence: Evidence, *, least_share: float) -> Finding | None:
    """Seeds make a difference."""
    made, different = evidence["instances"], evidence["distinct"]
    return (
        Finding(f"only {different} of {made} instances are different")
        if different < least_share * made
        else None
    )


@checker("families.varied")
def varied(
    evidence: Evidence, *, largest_share: float, least_nontrivial: float, from_difficulty: int = 5
) -> Finding | None:
    """Answers from difficulty `from_difficulty` on vary and are not trivial."""
    hard = [trivial for difficulty, _, trivial in evidence["answers"] if difficulty >= from_difficulty]
    if (share := commonest_share(evidence["answers"], from_difficulty)) > largest_share:
        return Finding(
            f"one answer holds in {share:.0%} of the {len(hard)} instances at difficulty "
            f"{from_difficulty} and above"
        )
    if not evidence["boolean"] and len(hard) - sum(hard) < least_nontrivial * len(hard):
        return Finding(
            f"{sum(hard)} of {len(hard)} answers at difficulty {from_difficulty} and above are trivial "
            "(0, 1, empty or none)"
        )
    return None


@checker("families.guessable")
def guessable(
    evidence: Evidence, *, constant: float, pair: float, of: Mapping[str, float] | None = None
) -> Finding | None:
    """No constant answer and no two answers are a good guess at any level; `of` has the shares that single
    operators may have instead."""
    limit = (of or {}).get(evidence["made_by"], 0.0)
    for level, instances, one, two in evidence["guesses"]:
        for share, largest, guess in (
            (one, constant, "one answer is right"),
            (two, pair, "one of the two most common answers is right"),
        ):
            if share > max(largest, limit):
                text = (
                    f"{guess} in {share:.0%} of the {instances} instances at difficulty {level}; at most "
                    f"{max(largest, limit):.0%} are allowed"
                )
                return Finding(text)
    return None


@checker("families.steps_alive")
def steps_alive(
    evidence: Evidence, *, changing: float, deciding: float, from_difficulty: int = 5
) -> Finding | None:
    """Check that the steps of a course change the state, and the late ones decide answers."""
    rows = evidence["steps"] or []  # None of a family without a course
    for level, changed, _ in rows:
        if changed < changing:
            return Finding(
                f"{changed:.0%} of the steps at difficulty {level} change the state; at least "
                f"{changing:.0%} are wanted"
            )
    late = [decided for level, _, decided in rows if level >= from_difficulty]
    if late and (share := sum(late) / len(late)) < deciding:
        return Finding(
            f"without the last third of the steps {share:.0%} of the answers at difficulty "
            f"{from_difficulty} and above are others; at least {deciding:.0%} are wanted"
        )
    return None


@checker("families.difficulty")
def difficulty(evidence: Evidence, *, ratio: float) -> Finding | None:
    """Check that the difficulty changes something."""
    if evidence["blind_to_difficulty"]:
        return Finding(
            "the generator ignores the difficulty: the same seed gives the same instance at all difficulties"
        )
    if any(rises(series, ratio) for series in growing(evidence).values()):
        return None
    seen = ", ".join(f"{name} {_series(series)}" for name, series in growing(evidence).items())
    return Finding(f"the inputs do not grow with the difficulty: {seen}")


def growing(evidence: Evidence) -> dict[str, Sequence[Sequence[float]]]:
    """Return the measures of the inputs that a difficulty may move, all made here. Source lines are a
    candidate's word and decide nothing."""
    return {"characters": evidence["size"], "magnitude": evidence["magnitude"]}


@checker("families.parts_matter")
def parts_matter(evidence: Evidence, *, least_share: float) -> Finding | None:
    """Check that the first part of a joined family decides something."""
    share = evidence["deciding"]
    if share is None or share >= least_share:
        return None
    return Finding(
        f"the first part is idle: with another instance of it {share:.0%} of the answers change; at least "
        f"{least_share:.0%} are wanted"
    )


@checker("families.rules_stated")
def rules_stated(evidence: Evidence) -> Finding | None:
    """Check that declared rules are in the template, and the sources follow them."""
    if evidence["unstated"]:
        return Finding(f"the template does not show the rule {', '.join(evidence['unstated'])}")
    if evidence["unused"]:
        return Finding(f"no source assigns {', '.join(evidence['unused'])}")
    return Finding(f"text and code differ: {evidence['mismatched'][0]}") if evidence["mismatched"] else None


@checker("families.rules_bite")
def rules_bite(
    evidence: Evidence, *, least_share: float, from_difficulty: int, distractors: Sequence[str]
) -> Finding | None:
    """Check that answers are others without any of the rules, at each level from `from_difficulty` on."""
    for point, text, way, level, instances, changed in evidence["bites"]:
        few = level >= from_difficulty and changed < least_share * instances
        if few and text not in distractors:
            instead = "nothing" if way == "nothing" else f"its alternative {way}"
            share = f"{changed} of {instances} answers at difficulty {level}"
            text = f"with {instead} for the rule {point}, {share} are others; at least {least_share:.0%}"
            return Finding(f"{text} are wanted")
    return None


@checker("families.contamination")
def contamination(evidence: Evidence, *, largest_share: float) -> Finding | None:
    """Check that the statement is in no benchmark; nothing is compared if no folder is set."""
    overlap = evidence["benchmarks"]
    if overlap is None or overlap["share"] < largest_share:
        return None
    text = (
        f"{overlap['share']:.0%} of the statement's sequences of {overlap['words']} words stand in the "
        f"benchmarks ({overlap['files']} files), "
        "for example"
    )
    return Finding(f"{text} {overlap['shown']!r}")


@checker("families.near_duplicate")
def near_duplicate(evidence: Evidence, *, answers: float, both: float, least_values: int) -> Finding | None:
    """No other family with this code or these answers."""
    for other in evidence["nearest"]:
        name = f"{other['name']} ({other['family_id'][:12]})"
        if other["same_code"]:
            return Finding(f"the code is that of {name}, but for names")
        if other["answers"] >= answers and other["answer_values"] >= least_values:
            return Finding(f"{other['answers']:.0%} of the answers on shared seeds are those of {name}")
        if other["answers"] >= both and other["code"] >= both:
            return Finding(
                f"near-duplicate of {name}: code {other['code']:.0%} alike, answers {other['answers']:.0%}"
            )
    return None


@checker("families.reviewer")
def reviewer(evidence: Evidence) -> Finding | None:
    """Check that the quality reviewer says proceed."""
    if evidence["failure"]:
        return Finding(f"the quality reviewer gave no usable reply: {evidence['failure']}")
    if evidence["action"] == "proceed":
        return None
    criteria = [
        name for name in ("readability", "novelty", "difficulty_alignment") if evidence[name] == "revise"
    ]
    return Finding(f"{', '.join(criteria)}: {evidence['feedback']}")


@checker("families.voters")
def voters(evidence: Evidence, *, least: int, copy: float = 0.98) -> Finding | None:
    """At least `least` validators are independent: not `copy` alike to an earlier voter, and with an answer
    to some instance.

    copy: from 0.5, below which evidence names no pair, to 1, the same tree.
    """
    copies: dict[str, str] = {}
    for name, earlier, similarity in evidence["alike"]:
        if similarity >= copy:
            copies.setdefault(name, earlier)
    independent = len(set(evidence["validators"]) - copies.keys() - set(evidence["silent"]))
    if independent >= least:
        return None
    copied = "".join(f"; {name} is a copy of {other}" for name, other in copies.items())
    copied += "".join(f"; {name} answers no instance" for name in evidence["silent"])
    kind = evidence["kind"]
    return Finding(
        f"{independent} independent {kind}, at least {least} are needed{copied}. "
        f"Add {kind}/*.py, or let the model backend write them (--backend model)"
    )


@checker("families.majority")
def majority(evidence: Evidence) -> Finding | None:
    """Every instance has a strict majority."""
    if not evidence["instances"]:
        return Finding("there are no instances to vote on")
    return _votes("ambiguous: no strict majority", evidence["undecided"], evidence["instances"])


@checker("families.primary_agrees")
def primary_agrees(evidence: Evidence) -> Finding | None:
    """Check that the primary votes with the majority."""
    return _votes("the primary is outvoted", evidence["primary_wrong"], evidence["instances"])


@checker("families.blind")
def blind(evidence: Evidence, *, least_matches: int) -> Finding | None:
    """Enough blind reviewers find the label."""
    reviews = evidence["reviews"]
    matched = sum(review["matched"] for review in reviews)
    if matched >= least_matches:
        return None
    text = f"{matched} of {len(reviews)} blind reviews match, {least_matches} are needed"
    first = next((review for review in reviews if not review["matched"]), None)
    if first is None:  # there are fewer reviews than the rule wants matches
        return Finding(text)
    said = f"{first['status']}: {first['answer'] or first['note']}"[:200]
    return Finding(f"{text}; at difficulty {first['difficulty']}: {said}")


@checker("families.text_agrees")
def text_agrees(evidence: Evidence) -> Finding | None:
    """Labels are what the text solver finds from the text, wherever it can read it."""
    reading = evidence["text"]
    if not reading["differ"]:
        return None
    first = reading["wrong"][0]
    return Finding(
        f"text and programs differ on {reading['differ']} of {reading['read']} questions that the text "
        f"solver reads; at difficulty {first['difficulty']} the text gives {first['answer']!r}, the programs "
        f"{first['label']!r}. The question is {first['question']!r}, and what it follows is "
        f"{first['sentence']!r}"
    )


@checker("families.probes")
def probes(evidence: Evidence) -> Finding | None:
    """Wrong answers are judged wrong."""
    if not evidence["probes"]:
        return Finding("no label could be probed")
    result = evidence["accepted_wrongly"]
    return Finding(f"the wrong answer {result[0][1]} is accepted for {result[0][0]!r}") if result else None


@checker("families.other_answers")
def other_answers(evidence: Evidence, *, least_right: float, least_rejected: float) -> Finding | None:
    """Checkers accept what every solver finds, and other answers than the label in some instances, but few of
    those that are made up."""
    if "other_right" not in evidence:
        return None
    if evidence["refused"]:
        name, answer = evidence["refused"][0]
        return Finding(f"the checkers reject the answer of the solver {name}: {answer!r}"[:400])
    if evidence["rejected"] < least_rejected:
        return Finding(
            f"the checkers reject {evidence['rejected']:.0%} of answers that were made up, at least "
            f"{least_rejected:.0%} are wanted"
        )
    if evidence["other_right"] < least_right * evidence["probed"]:
        seen = (
            f"another right answer than the label was found in {evidence['other_right']} of "
            f"{evidence['probed']} instances"
        )
        return Finding(
            f"{seen}; add a solver to validators/ that finds other answers, or leave the checkers out if "
            "the answer is unique"
        )
    return None


@checker("families.sentences_read")
def sentences_read(
    evidence: Evidence, *, largest_share: float, of: Mapping[str, float] | None = None
) -> Finding | None:
    """Sentences taken out are missed by the reader; `of` has shares for single operators."""
    if own := evidence["unread_own"]:
        return Finding(f"what the operator says can be left out and the reader reads on: {own[0]!r}"[:400])
    unread, all_sentences = evidence["unread"], evidence["sentences"]
    largest = (of or {}).get(evidence["made_by"], largest_share)
    if not largest and evidence["misread"]:
        return Finding(
            f"of {evidence['misread']} statements the reader hands on other inputs than the generator's"
        )
    if (loose := evidence["loose"]) and len(loose) > largest * evidence["words"]:
        text = (
            f"{len(loose)} of {evidence['words']} words can be left out and the reader reads on, "
            f"{largest:.0%} may; the first: "
        )
        return Finding(f"{text}{loose[0]!r}"[:400])
    if not all_sentences or len(unread) <= largest * all_sentences:
        return None
    text = (
        f"{len(unread)} of {all_sentences} sentences can be left out and the reader reads on, "
        f"{largest:.0%} may; the first: "
    )
    return Finding(f"{text}{unread[0]!r}"[:400])


@checker("families.sentences_declared")
def sentences_declared(evidence: Evidence) -> Finding | None:
    """Check that what the reader declares is what the statements say and the code does."""
    result = evidence["declared"]
    if result is None:
        return None
    for key, what in (
        ("malformed", "{}"),
        ("leftover", "no declared pattern fits the sentence {!r}"),
        ("missing", "the statement leaves out {!r}"),
        ("other_values", "{}"),
        ("without_code", "{} is said to hold a rule, and no validator's answer depends on it"),
    ):
        if result[key]:
            return Finding(what.format(result[key] if isinstance(result[key], str) else result[key][0])[:400])
    return None


@checker("families.quantities")
def quantities(evidence: Evidence, *, said_from: int = 5) -> Finding | None:
    """Numbers of the prose are in the code, and numbers from `said_from` on that the code decides by are in
    the text."""
    if evidence["unbacked"]:
        value, sentence = evidence["unbacked"][0]
        return Finding(f"the text says {value}, and no code that decides anything has it: {sentence!r}"[:400])
    if unsaid := [number for number in evidence["unsaid"] if number >= said_from]:
        return Finding(f"every validator decides by the number {unsaid[0]}, and the text does not say it")
    return None


@checker("families.idle")
def idle(evidence: Evidence, *, distractors: Sequence[str]) -> Finding | None:
    """Quantities, rules and functions that could be another change answers."""
    for _, sentence in evidence["idle"]:
        if sentence not in distractors:
            return Finding(f"a quantity or slot can be another and no answer changes: {sentence!r}"[:400])
    for name, text in evidence["dead"]:
        if text not in distractors:
            return Finding(f"the rule {name} can be another and no answer changes: {text!r}"[:400])
    if evidence["dead_functions"]:
        return Finding(
            f"the primary's function {evidence['dead_functions'][0]} can lose its work and no answer changes"
        )
    return None


@checker("families.ties_stated")
def ties_stated(evidence: Evidence) -> Finding | None:
    """Where equals make a difference, the text says who goes first."""
    if not evidence["ties"] or evidence["order_of_equals"]:
        return None
    return Finding(
        f"taken in the opposite order, equals give another answer ({evidence['ties'][0]}), and the text "
        "does not say who goes first"
    )


@checker("families.terms_defined")
def terms_defined(evidence: Evidence) -> Finding | None:
    """Words of degree have a border."""
    if not evidence["vague"]:
        return None
    word, sentence = evidence["vague"][0]
    return Finding(f"the text does not say from where on something is {word!r}: {sentence!r}"[:400])


def _votes(what: str, votes: Sequence[Mapping[str, Any]], total: int) -> Finding | None:
    if not votes:
        return None
    first = votes[0]
    said = ", ".join(f"{name}: {answer!r}"[:80] for name, answer in first["answers"].items())
    return Finding(
        f"{what} in {len(votes)} of {total} instances; at difficulty {first['difficulty']}, seed "
        f"{first['seed']}: {said}"
    )


def _series(values: Sequence[Sequence[float]]) -> str:
    return " ".join(f"{difficulty}:{value:.0f}" for difficulty, value in values)
