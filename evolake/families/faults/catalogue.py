"""Faults that can be planted into any family: the mutation test of the gates (DeMillo, Lipton and Sayward
1978, applied to gates).

Each fault wraps a source of the family (see `parts`), edits the template, or changes a declaration. A family
that lacks what a fault needs (a rule, two independent validators) makes it NotComposable, which is no
survival. `expected` says which gate is meant to catch it; an earlier gate that catches it is as good, which
the rows show.

Faults that the gates cannot see are planted all the same: the record of what an acceptance does not mean.
Every gate compares programs with programs, and the operators' blind reviewers take their program from the
family. What text and programs have wrong together therefore passes; the paper's human audit finds the same:
of 15 faulty families five have programs that agree with each other and contradict the text (appendix L).
Reviewers of the model backend, who read the text, may see the first two; the third is too rare for a sample,
and the strict majority over every single instance keeps it out of the labels.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType

from evolake.families.faults import texts
from evolake.families.faults.texts import (
    FORGED,
    WRONG,
    answers,
    every_voter,
    generator,
    independent,
    own_answer,
    primary,
    renamed,
)
from evolake.families.model.contract import Family
from evolake.families.model.source_code import NotComposable, switch
from evolake.families.model.statement import RULE, slots

CONSTANTS = {
    "integer": "7",
    "number": "7",
    "boolean": "True",
    "string": '"seven"',
    "list": "[7, 7]",
    "mapping": '{"seven": 7}',
    "any": "7",
}
NOBODY = "none"
"""`expected` of a class that no gate is meant to see (evolake.families.faults.catalogue)."""
OTHER_TYPES = {
    "integer": '"text"',
    "number": "[1]",
    "boolean": '"text"',
    "string": "[1]",
    "list": "1",
    "mapping": "1",
}


@dataclass(frozen=True)
class Fault:
    """A class of faults. expected: the gate that is meant to catch it. twin: whether it shows only next to
    the sound family."""

    name: str
    expected: str
    plant: Callable[[Family], Family]
    twin: bool = False


def _unstated(family: Family) -> Family:
    """Return the family with the words of the last rule taken out of its text."""
    if not family.points:
        raise NotComposable("no rule is declared")
    name = family.points[-1].name
    return replace(
        family, template=RULE.sub(lambda match: "" if match[1] == name else match[0], family.template)
    )


def _misstated(family: Family) -> Family:
    """Every source follows another alternative than the text says."""
    for point in family.points:
        for item in point.alternatives:
            if item.name != point.chosen and item.code != point.alternative().code:
                return replace(switch(family, point.name, item.name), points=family.points)
    raise NotComposable("no rule with two alternatives")


def _slot_missing(family: Family) -> Family:
    return replace(
        family,
        template=family.template
        + f"\nAnd what of [Input Slot {max(slots(family.template), default=0) + 1}]?\n",
    )


def _no_independent(family: Family) -> Family:
    """Return the family without all independent validators but one."""
    first = next(iter(family.validators.items()), None)
    if first is None:
        raise NotComposable("no independent validator")
    return replace(family, validators=dict([first]))


def _copies(family: Family) -> Family:
    """Return the family whose independent validators are the primary under other names of variables."""
    if not family.validators:
        raise NotComposable("no independent validator")
    return replace(
        family,
        validators={
            name: renamed(family.validator, number) for number, name in enumerate(family.validators, start=1)
        },
    )


def _split(family: Family) -> Family:
    """Every voter has its own answer."""
    if len(family.validators) != 2:
        raise NotComposable("not two independent validators")
    return independent(family, lambda number: answers(f"wrong(answer, {number})", WRONG))


_SLOW = "sum(1 for _ in iter(int, 1))"
_FORK = "import os\n    os.fork()"
_NETWORK = "import socket\n    socket.create_connection(('127.0.0.1', 80))"
_SEEDED = "import random, time\n    random.seed(time.time_ns())"
_HOG = "hog = bytearray(8 << 30)"

_ALL = (
    Fault(
        "off-by-one primary", "consensus", lambda family: primary(family, answers("wrong(answer, 1)", WRONG))
    ),
    Fault(
        "primary wrong in every third case",
        "consensus",
        lambda family: primary(
            family,
            answers(
                "wrong(answer, 1) if sum(map(ord, json.dumps(inputs, sort_keys=True))) % 3 == 0 else answer",
                WRONG,
            ),
        ),
    ),
    Fault("voters split", "consensus", _split),
    Fault("copies for independent validators", "consensus", _copies),
    Fault("one independent validator", "consensus", _no_independent),
    Fault("rule missing in the text", "static", _unstated),
    Fault("text and code of a rule differ", "static", _misstated),
    Fault("difficulty ignored", "static", lambda family: generator(family, "return make(5)")),
    Fault("answer leaked", "static", own_answer),
    Fault(
        "constant answer",
        "static",
        lambda family: every_voter(family, answers(CONSTANTS[family.answer.type])),
    ),
    Fault(
        "same instance always",
        "static",
        lambda family: generator(
            family, "import random\n    random.seed(difficulty)\n    return make(difficulty)"
        ),
    ),
    Fault(
        "slot in a slot text",
        "static",
        lambda family: generator(
            family,
            "inputs, texts = make(difficulty)\n    return inputs, [*list(texts)[:-1], '[Input Slot 1] ' + "
            "list(texts)[-1]]",
        ),
    ),
    Fault(
        "drawn grid",
        "static",
        lambda family: generator(
            family,
            "inputs, texts = make(difficulty)\n    return inputs, [*list(texts)[:-1], list(texts)[-1] + "
            "'\\n\\n7 5 4\\n6 7 5\\n8 4 5\\n\\n']",
        ),
    ),
    Fault(
        "double of a known family",
        "static",
        lambda family: replace(
            family,
            generator=renamed(family.generator, 1),
            validator=renamed(family.validator, 1),
            title=f"{family.title}, once more",
        ),
        twin=True,
    ),
    Fault(
        "nondeterministic generator",
        "execution",
        lambda family: generator(family, f"{_SEEDED}\n    return make(difficulty)"),
    ),
    Fault(
        "date of today",
        "execution",
        lambda family: generator(
            family,
            "import datetime, random\n    random.seed(datetime.date.today().toordinal() + difficulty)\n"
            "    return make(difficulty)",
        ),
    ),
    Fault(
        "order of a set",
        "execution",
        lambda family: generator(
            family,
            "import random\n    random.seed(''.join(list({'north', 'east', 'south', 'west'})) + "
            "str(difficulty))\n    return make(difficulty)",
        ),
    ),
    Fault(
        "impure validator",
        "execution",
        lambda family: primary(
            family,
            answers(
                "calls.append(1) or (wrong(answer, 1) if len(calls) % 4 == 1 else answer)",
                "calls = []\n" + WRONG,
            ),
        ),
    ),
    Fault("slow loop", "execution", lambda family: every_voter(family, answers(f"{_SLOW} and answer"))),
    Fault(
        "memory bomb",
        "execution",
        lambda family: every_voter(family, answers("bytearray(8 << 30) and answer")),
    ),
    Fault(
        "memory bomb in the generator",
        "execution",
        lambda family: generator(family, f"{_HOG}\n    return make(difficulty)"),
    ),
    Fault(
        "network call",
        "execution",
        lambda family: generator(family, f"{_NETWORK}\n    return make(difficulty)"),
    ),
    Fault(
        "new process", "execution", lambda family: generator(family, f"{_FORK}\n    return make(difficulty)")
    ),
    Fault(
        "inputs that JSON cannot carry",
        "execution",
        lambda family: generator(
            family, "inputs, texts = make(difficulty)\n    return {'all': inputs, 7: 1}, texts"
        ),
    ),
    Fault("slot without a text", "execution", _slot_missing),
    Fault(
        "answer of another type", "execution", lambda family: primary(family, answers(_other_type(family)))
    ),
    Fault(
        "text withholds numbers",
        "blind",
        lambda family: generator(
            family,
            "import re\n    inputs, texts = make(difficulty)\n    hidden = [re.sub(r'\\d+', 'some', text) "
            "for text in texts]\n"
            "    if hidden == list(texts):\n        hidden = ['' for text in texts]\n    return inputs, "
            "hidden",
        ),
    ),
    Fault(
        "text withholds its longest slot",
        "blind",
        lambda family: generator(
            family,
            "inputs, texts = make(difficulty)\n    longest = max(map(len, texts))\n"
            "    return inputs, ['(not given)' if len(text) == longest else text for text in texts]",
        ),
    ),
    Fault(
        "difficulty ignored, work forged",
        "static",
        lambda family: every_voter(
            generator(
                family,
                "inputs, texts = make(5)\n    return {**inputs, 'unused': chr(96 + difficulty)}, texts",
            ),
            answers("forged() or answer", FORGED),
        ),
    ),
    Fault("number of the text is another", "sentences", texts.number_is_another),
    Fault("tie-break unstated", "sentences", texts.tie_unstated),
    Fault("word without a border", "sentences", texts.without_border),
    Fault("rule obeyed by no voter", "sentences", texts.rule_obeyed_by_no_voter),
    Fault("quantity minded by nobody", "sentences", texts.quantity_minded_by_nobody),
    Fault("declared sentence left out", "sentences", texts.declared_sentence_left_out),
    Fault("sentence without a pattern", "sentences", texts.sentence_without_pattern),
)
FAULTS: Mapping[str, Fault] = MappingProxyType({fault.name: fault for fault in _ALL})


def _other_type(family: Family) -> str:
    if family.answer.type not in OTHER_TYPES:
        raise NotComposable("every type of answer is declared")
    return OTHER_TYPES[family.answer.type]


CONTRADICTION = {"en": "\nAdd 1 to the result before you answer.\n", "zh": "\n请将结果加 1 后再作答。\n"}
RARE = 1009
OTHERWISE = (
    "not answer if isinstance(answer, bool) else answer + 'x' if isinstance(answer, str) else {**answer, "
    "'extra': 1} if isinstance(answer, dict) else [*answer, 0] if isinstance(answer, (list, tuple)) else "
    "answer + 1"
)
"""Another answer, without its own function: that one decides nothing in the sample would show."""


def _contradicted(family: Family) -> Family:
    """Return a family whose text asks for one more than every program gives."""
    if family.answer.type not in ("integer", "number"):
        raise NotComposable("the answer is no number")
    return replace(family, template=family.template + CONTRADICTION[family.language])


UNSEEN: Mapping[str, Fault] = MappingProxyType(
    {
        fault.name: fault
        for fault in (
            Fault(
                "every voter wrong alike",
                NOBODY,
                lambda family: every_voter(family, answers("wrong(answer, 1)", WRONG)),
            ),
            Fault("text contradicts every program", NOBODY, _contradicted),
            Fault(
                f"primary wrong once in {RARE} cases",
                NOBODY,
                lambda family: primary(
                    family,
                    answers(
                        f"({OTHERWISE}) if sum(map(ord, json.dumps(inputs, sort_keys=True))) % {RARE} == "
                        "0 else answer"
                    ),
                ),
            ),
        )
    }
)
"""Name -> class, as in `FAULTS`; none of them is meant to be caught."""
