"""The catalogue of readings, and one examination of a family by all of them: two jail calls, one with changed
inputs and one with changed validators."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from evolake.families.gates.execution import caps_of
from evolake.families.gates.static import Sample
from evolake.families.model.contract import Family
from evolake.families.model.source_code import NotComposable, compose, factory
from evolake.families.readings import (
    bounds,
    built_data,
    calendar,
    conditions,
    directions,
    lacking,
    measured_steps,
    orders,
    places_within,
    reordered,
    rounding,
    sequences,
    simultaneity,
    spelling,
    stated_cases,
    symmetries,
)
from evolake.families.readings.view import Examiner, FamilyView, Given, ReadingPlace, Wanted, view_of
from evolake.families.sandbox.running import Caps, Solved, solve
from evolake.families.settings import FamiliesSettings


@dataclass(frozen=True)
class Reading:
    """One entry of the catalogue. sides: the readings that are distinguished. examine: how, as a generator
    (`places.Examiner`)."""

    name: str
    sides: tuple[str, ...]
    examine: Callable[[FamilyView], Examiner]


CATALOGUE = (
    Reading(
        "a border that a slot states",
        ("at least", "more than", "at most", "less than", "inclusive", "exclusive"),
        bounds.bounds,
    ),
    Reading(
        "a border that the prose states",
        ("at least", "more than", "at most", "less than"),
        bounds.fixed_bounds,
    ),
    Reading("who goes first among equals", ("first", "last", "smaller name", "larger name"), orders.ties),
    Reading("whether repeats count", ("once", "each time"), orders.repeats),
    Reading("whether capital letters count as others", ("same", "different"), spelling.letter_case),
    Reading("whether occurrences may overlap", ("may", "may not"), spelling.overlaps),
    Reading("whether equal neighbours count", ("strictly", "not strictly"), sequences.equal_neighbours),
    Reading(
        "which end is meant", ("first used", "last used", "first skipped", "last skipped"), sequences.ends
    ),
    Reading("a value that the text names", ("apart", "as any other"), lacking.named_values),
    Reading("from where places are counted", ("0", "1"), places_within.counted_from),
    Reading("the order of the answer", ("rising", "falling"), orders.answer_order),
    Reading("whether both ends count", ("both", "not both"), bounds.widths),
    Reading("whether both ends of a record's span count", ("both", "not both"), bounds.spans_of_records),
    Reading("places in the data", ("count", "do not count"), sequences.positions),
    Reading("a column of the data", ("counts", "does not count"), lacking.idle_columns),
    Reading("rounding", ("down", "up", "halves up", "halves to even"), rounding.rounding),
    Reading("the sign of a remainder", ("never negative", "of the number divided"), rounding.remainders),
    Reading("the middle of an even number", ("lower", "higher", "mean"), rounding.medians),
    Reading("at the same time or in turn", ("at the same time", "in turn"), simultaneity.simultaneous),
    Reading("a negation", ("not", "so"), places_within.negation),
    Reading("a direction", ("left", "right", "forward", "back"), directions.directions),
    Reading("the factor of a unit", ("60", "24", "7", "1000", "100", "12"), calendar.units),
    Reading("a circle", ("closed", "a line"), directions.circles),
    Reading("where every k-th begins", ("the first", "the k-th"), places_within.steps),
    Reading("whether pairs are ordered", ("ordered", "unordered"), places_within.pairs),
    Reading("the base of numerals", ("2", "3", "8", "16"), spelling.numerals),
    Reading("the order in which things are taken", ("rising", "falling"), orders.sorting),
    Reading("whether corners make neighbours", ("four", "eight"), directions.diagonals),
    Reading("which extreme is taken", ("smallest", "largest"), orders.extremes),
    Reading("days of the week", ("the calendar's order", "another"), calendar.first_days),
    Reading("leap years", ("every fourth", "not those of most centuries"), calendar.leap_years),
    Reading(
        "a state that depends on what came before",
        ("the order matters", "it does not"),
        reordered.state_in_order,
    ),
    Reading("the order in which the answer names them", ("rising", "falling"), reordered.order_of_names),
    Reading("which of equals is meant", ("the first", "the last"), reordered.equal_places),
    Reading(
        "where every k-th begins, by what matters", ("the first", "the k-th"), reordered.influential_places
    ),
    Reading("a begun unit", ("counts", "does not count"), measured_steps.begun_units),
    Reading("whether both ends of a span count", ("both", "one"), measured_steps.spans),
    Reading("where a half is rounded to", ("up", "down", "to even"), rounding.halves),
    Reading("just a half", ("enough", "not enough"), measured_steps.halves),
    Reading("what a border changes", ("all of them", "only those beyond"), measured_steps.all_or_rest),
    Reading("what is taken off first", ("the amount", "the percentage"), measured_steps.percent_first),
    Reading("what is struck off", ("one", "all equal ones"), measured_steps.struck_off),
    Reading("the one next to the extreme", ("another value", "an equal one"), measured_steps.next_to_extreme),
    Reading("an answer for a case of its own", ("given", "never given"), lacking.promised_answers),
    Reading("the numbers of a circle", ("from 0", "from 1"), lacking.outside_range),
    Reading("how many places go round", ("as said", "one more or less"), lacking.circle_size),
    Reading("a letter that the text names", ("apart", "as any other"), lacking.named_letters),
    Reading(
        "a means that no program has",
        ("exactly", "from behind", "the newest", "the oldest"),
        lacking.lacking_means,
    ),
    Reading("rises and falls", ("one way", "both"), symmetries.one_way),
    Reading("rows or columns", ("row by row", "column by column"), symmetries.rows_or_columns),
    Reading(
        "which extreme is apart",
        ("the smallest", "the largest", "the second"),
        symmetries.extremes_that_matter,
    ),
    Reading("what does not count", ("does not count", "counts"), symmetries.ignored_values),
    Reading("whether gaps count", ("they do not", "they count"), symmetries.ignored_gaps),
    Reading(
        "which of equals is meant, by words",
        ("the first seen", "the last seen", "the alphabet"),
        symmetries.equals_in_texts,
    ),
    Reading("the rank after a shared one", ("the next", "later"), symmetries.shared_ranks),
    Reading("what comes at the very start", ("one each", "none"), symmetries.at_the_start),
    Reading("which of two is left out", ("the smaller one", "the larger one"), symmetries.sides_of_pairs),
    Reading(
        "how two conditions are joined, of divisors",
        ("both", "one is enough", "just one"),
        conditions.two_divisors,
    ),
    Reading("how two conditions are joined", ("both", "one is enough"), conditions.joined_by_or),
    Reading("what is rounded", ("each part", "the sum"), conditions.each_or_sum),
    Reading("what is free", ("free", "not free"), conditions.free_beyond),
    Reading("where a half goes", ("up", "down"), conditions.halfway_values),
    Reading("what equals the average", ("counts", "does not count"), built_data.average),
    Reading("zero", ("with the positive", "with neither"), built_data.zero),
    Reading("spans that touch", ("meet", "are apart"), built_data.touching),
    Reading("what leaves at an end", ("is lost", "is kept"), built_data.lost_at_the_end),
    Reading(
        "of what a percentage is taken", ("of what is left", "of the first price"), built_data.percent_of_what
    ),
    Reading("who begins", ("the one", "the other"), built_data.who_begins),
    Reading("two equal numbers", ("apart", "as any two"), built_data.equal_pairs),
    Reading(
        "from which end places are counted", ("the front", "the back"), built_data.counted_from_which_end
    ),
    Reading("which numbers do not count", ("does not count", "counts"), built_data.ignored_numbers),
    Reading("what is counted", ("what lies between", "the elements"), built_data.things_between),
    Reading("at the very minute", ("no waiting", "waiting"), built_data.on_the_dot),
    Reading("who goes out", ("on whom it falls", "the one after"), stated_cases.counted_out),
    Reading("how often two meet", ("once", "twice"), stated_cases.met_once),
    Reading("what must not be exceeded", ("never over", "over"), stated_cases.not_over),
    Reading("sizes and sums", ("the size of the sum", "the sum of the sizes"), stated_cases.size_of_sum),
    Reading("tops with level neighbours", ("none", "one", "two"), stated_cases.level_tops),
    Reading("how many places go round, by steps", ("as said", "another number"), stated_cases.periods),
    Reading("a number that equals the one before", ("falls", "rises"), stated_cases.level_with_before),
    Reading("the order of equals", ("by the alphabet", "as given"), stated_cases.alphabet_of_equals),
    Reading("the ends of a row", ("count", "never count"), stated_cases.ends_of_a_row),
    Reading("which extreme is named", ("the least", "the greatest"), stated_cases.named_extreme),
    Reading(
        "with which one another price begins", ("with it", "with the next one"), places_within.from_the_kth
    ),
    Reading("tops at the ends", ("can be", "never"), places_within.tops_at_ends),
    Reading(
        "the first and the last digit",
        ("the first is larger", "the last is larger"),
        places_within.first_and_last_digit,
    ),
    Reading("in how many pairs a thing can be", ("one", "several"), places_within.separate_pairs),
    Reading("one exactly at the border", ("with them", "not"), places_within.with_that_one),
)
BUDGET_S = 0.35
"""cpu seconds of the changed inputs, by what the sample's answers took; slower families are probed on fewer
instances.
"""
FEW = (4, 12)
"""Fewest and most instances whose data are changed."""
PROBES_EACH = 60
"""Changed inputs of one instance, as estimated for the budget."""
FEWEST_INPUTS, MOST_INPUTS = 60, 3000
CHANGED_CPU_S = 0.25
GLUE = """
def solution(given):
    return PARTS[given[0]](given[1])
"""


def examine(family: Family, sample: Sample, *, pool: Any, settings: FamiliesSettings) -> list[ReadingPlace]:
    """Return what the catalogue finds in an English family whose gates passed. Raises MachineryError when the
    jail failed."""
    if family.language != "en":
        return []
    view = view_of(family, sample.instances, sample.answers, _few(sample))
    if view is None:
        return []
    whole = caps_of(settings)
    caps = Caps(cpu_s=min(whole.cpu_s, CHANGED_CPU_S), call_s=whole.call_s, memory_mb=whole.memory_mb)
    running: list[Examiner] = [reading.examine(view) for reading in CATALOGUE]
    wanted: list[Wanted] = []
    found: list[ReadingPlace] = []
    waiting: list[Examiner] = []
    for examiner in running:
        try:
            wanted.append(next(examiner))
            waiting.append(examiner)
        except StopIteration as done:
            found += done.value
    inputs = [item for want in wanted for item in want.inputs]
    tried = inputs[: _most(sample)]
    answers: Sequence[Solved] = solve(family.validator, tried, pool=pool, caps=caps) if tried else []
    answers = [*answers, *([_NOT_TRIED] * (len(inputs) - len(answers)))]
    sources = [item for want in wanted for item in want.sources]
    decided = _decided(view, sources, pool=pool, caps=caps)
    total = len(view.instances)
    for examiner, want in zip(waiting, wanted, strict=True):
        mine, answers = answers[: len(want.inputs)], answers[len(want.inputs) :]
        counts, decided = decided[: len(want.sources)], decided[len(want.sources) :]
        try:
            examiner.send(Given(mine, counts, total))
        except StopIteration as done:
            found += done.value
    return found


_NOT_TRIED = Solved("steps", "not tried", None, "NoneType", None, 0.0)


def _few(sample: Sample) -> int:
    """Return how many instances are probed within the budget."""
    each = sum(item.cpu_s for item in sample.answers) / max(len(sample.answers), 1)
    return max(FEW[0], min(FEW[1], int(BUDGET_S / max(each * PROBES_EACH, 1e-9))))


def _most(sample: Sample) -> int:
    """Return how many changed inputs are tried; the others count as not tried."""
    each = sum(item.cpu_s for item in sample.answers) / max(len(sample.answers), 1)
    return max(FEWEST_INPUTS, min(MOST_INPUTS, int(BUDGET_S / max(each, 1e-9))))


def _decided(view: FamilyView, sources: Sequence[str], *, pool: Any, caps: Caps) -> list[int]:
    """Return for each changed validator how many instances of the sample it answers otherwise; all run in one
    call."""
    if not sources:
        return []
    try:
        parts = [factory(f"part_{number}", source, "solution") for number, source in enumerate(sources)]
        glue = f"PARTS = [{', '.join(f'part_{number}()' for number in range(len(sources)))}]\n{GLUE}"
        whole = compose(parts, glue)
    except NotComposable:
        return [0] * len(sources)
    pairs = [[number, item.inputs] for number in range(len(sources)) for item in view.instances]
    answers = solve(whole, pairs, pool=pool, caps=caps)
    each = len(view.instances)
    return [
        sum(
            solved.status == "ok" and not view.same(solved.answer, label)
            for solved, label in zip(answers[number * each : (number + 1) * each], view.labels, strict=True)
        )
        for number in range(len(sources))
    ]
