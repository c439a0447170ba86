"""Gate 0: does it run? Every source is loaded in the jail, run twice, and shown inputs of no family's form.

The second run takes the instances in the opposite order in a fresh process, at another date, in another time
zone and with sets in another order, so what is carried over from one instance to the next, a clock, a hash or
an unseeded generator shows as a difference.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from evolake.families.model.contract import Family
from evolake.families.model.source_code import impurity
from evolake.families.model.statement import RULE, SLOT, rules, slots, stated
from evolake.families.sandbox.driver import PROBES
from evolake.families.sandbox.running import (
    Caps,
    Instance,
    Solved,
    check,
    checker_on_answers,
    generate,
    solve,
    solve_parts,
)
from evolake.families.settings import FamiliesSettings
from evolake.seeds import child_seed

UNSAFE = ("timeout", "cpu", "memory", "output", "killed", "forbidden", "protocol", "steps")
"""Statuses of a source that does not stay within the jail's rules, as against one that raises."""


@dataclass(frozen=True)
class Execution:
    """What gate 0 saw. Instances and answers of both runs are in the order of the pairs."""

    instances: tuple[Instance, ...]
    again: tuple[Instance, ...]
    answers: dict[str, tuple[Solved, ...]]
    answers_again: dict[str, tuple[Solved, ...]]
    probes: dict[str, tuple[Solved, ...]]


def caps_of(settings: FamiliesSettings) -> Caps:
    """Return the limits of one call."""
    return Caps(cpu_s=settings.instance_cpu_s, call_s=settings.call_cpu_s, memory_mb=settings.memory_mb)


def pairs_of(difficulties: Sequence[int], seeds: int, purpose: str) -> list[tuple[int, int]]:
    """Return (difficulty, seed) pairs; each seed goes with every difficulty. They depend on nothing but these
    arguments: all families share them."""
    return [
        (difficulty, child_seed(0, "families", "*", purpose, number))
        for difficulty in difficulties
        for number in range(seeds)
    ]


def execute(family: Family, *, pool: Any, settings: FamiliesSettings) -> Execution:
    """Run the family as gate 0 does. Raises MachineryError when the jail failed."""
    caps = caps_of(settings)
    pairs = pairs_of(settings.gate_difficulties, settings.execution_seeds, "execution")
    first = generate(family, pairs, pool=pool, caps=caps)
    if any(instance.status != "ok" for instance in first):
        return Execution(tuple(first), tuple(first), {}, {}, {})
    second = generate(family, pairs[::-1], pool=pool, caps=caps, elsewhere=True)[::-1]
    inputs = [instance.inputs for instance in first]
    answers, again, probes = {}, {}, {}
    for name, source in family.solvers().items():
        done, probed = solve_parts(source, [inputs, PROBES], pool=pool, caps=caps)
        answers[name] = tuple(done)
        if name == "primary" and any(answer.status != "ok" for answer in answers[name]):
            break
        again[name] = tuple(solve(source, inputs[::-1], pool=pool, caps=caps, elsewhere=True)[::-1])
        probes[name] = tuple(probed)
    if len(answers) == len(family.solvers()) and all(item.status == "ok" for item in answers["primary"]):
        tasks = [
            (item.inputs, [solved.answer]) for item, solved in zip(first, answers["primary"], strict=True)
        ]
        for name, source in family.checkers.items():
            answers[name] = tuple(check(source, tasks, pool=pool, caps=caps))
            again[name] = tuple(check(source, tasks[::-1], pool=pool, caps=caps, elsewhere=True)[::-1])
            malformed = checker_on_answers(source, [*PROBES, answers["primary"][0].answer])
            done, probed = solve_parts(malformed, [[first[0].inputs], PROBES], pool=pool, caps=caps)
            probes[name] = (*probed, *done)
    return Execution(tuple(first), tuple(second), answers, again, probes)


def execution_evidence(family: Family, seen: Execution) -> dict[str, Any]:
    """Return what the rules of gate 0 judge, as plain JSON."""
    wanted = slots(stated(family))
    numbers = sorted({number for instance in seen.instances for number in _numbers(instance)})
    declared = [point.name for point in family.points]
    return {
        "instances": [
            [item.difficulty, item.seed, item.status, item.reason]
            for item in _with_limits(seen.instances, seen.again)
        ],
        "unstable_instances": _differing(seen.instances, seen.again),
        "slots": wanted,
        "slot_texts": numbers,
        "leftover_rules": sorted(set(rules(stated(family)))),
        "unstated_rules": sorted(set(declared) - set(rules(family.template))),
        "voters": {
            name: {
                "failures": [
                    [answer.status, answer.reason]
                    for answer in _with_limits(answers, seen.answers_again.get(name, answers))
                    if answer.status != "ok"
                ],
                "unstable": _differing(answers, seen.answers_again.get(name, answers)),
                "unsafe_probes": [
                    [answer.status, answer.reason]
                    for answer in seen.probes.get(name, ())
                    if answer.status in UNSAFE
                ],
                "types": sorted({_type(answer.answer) for answer in answers if answer.status == "ok"}),
            }
            for name, answers in seen.answers.items()
        },
        "answer_type": family.answer.type,
    } | (
        {"impure": [[name, found] for name, source in family.checkers.items() if (found := impurity(source))]}
        if family.checkers
        else {}
    )


def unfilled(text: str) -> list[str]:
    """Return slots and rules that are still open in a statement."""
    return [match[0] for pattern in (SLOT, RULE) for match in pattern.finditer(text)]


def _numbers(instance: Instance) -> list[int]:
    return [len(instance.slot_texts)] if instance.status == "ok" else []


def _with_limits(first: Sequence[Any], second: Sequence[Any]) -> list[Any]:
    """Return the results of the first run; of the second where that one alone was past a limit."""
    return [
        other if item.status == "ok" and other.status in UNSAFE else item
        for item, other in zip(first, second, strict=True)
    ]


def _differing(first: Sequence[Any], second: Sequence[Any]) -> int:
    """Return how many results differ. One past a limit says nothing about what would have come."""
    return sum(
        item.content != other.content and not {item.status, other.status} & {*UNSAFE}
        for item, other in zip(first, second, strict=True)
    )


def _type(answer: Any) -> str:
    """Return the answer type of the contract that a value is of; numbers in texts (fractions) count as
    numbers where the family says so."""
    for kind, name in (
        (bool, "boolean"),
        (int, "integer"),
        (float, "number"),
        (str, "string"),
        (list, "list"),
        (dict, "mapping"),
    ):
        if isinstance(answer, kind):
            return name
    return "nothing"
