"""Faults that the gates cannot see, planted all the same: the record of what an acceptance does not mean.

Every gate compares programs with programs, and the operators' blind reviewers take their program from the
family (its reader, its independent validators). What text and programs have wrong together therefore passes;
the paper's human audit finds the same: of 15 faulty families five have programs that agree with each other
and contradict the text, its dominant undetected fault (appendix L). Reviewers of the model backend, who read
the text, may see the first two; the third is too rare for a sample, and the strict majority over every single
instance keeps it out of the labels.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from types import MappingProxyType

from evolake.families.faults.catalogue import NOBODY, Fault
from evolake.families.faults.sources import WRONG, answers, every_voter, primary
from evolake.families.model.ast_transforms import NotComposable
from evolake.families.model.contract import Family

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
"""Name -> class, as in `faults.FAULTS`; none of them is meant to be caught."""
