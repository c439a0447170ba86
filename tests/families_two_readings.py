"""Families that can be read in two ways, each written four times: the text says one or the other, and all
programs do one or the other.

Where text and programs agree the family is good; where they do not, one author's misreading is shared by all
voters. `«a||b»` is `a` in the first form and `b` in the second. No family has a reader of its own: it is
learnt from the slots.
"""

import re
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from evolake.families.model.contract import Answer, Family

_CHOICE = re.compile(r"«(.*?)\|\|(.*?)»", re.DOTALL)
BOTH = ((0, 0), (1, 1), (0, 1), (1, 0))
HEAD = (
    "import random\n\nNAMES = 'Ada Bea Cid Dan Eva Fay Gus Hal Ivy Jon Kim Lea Max Ned Oda Pia Quin Rob "
    "Sue Tom Una Vic Wim Xia Yan Zoe'.split()\n\n\n"
)


@dataclass(frozen=True)
class TwoReadings:
    """One family in two readings. forms: (text, programs) that are written; voters: the bodies of three
    functions of `i`."""

    name: str
    text: str
    question: str
    generator: str
    voters: tuple[str, str, str]
    answer: str = "integer"
    forms: tuple[tuple[int, int], ...] = BOTH
    category: str = "symbolic"

    def family(self, text: int, code: int) -> Family:
        """Return the family whose text is in one form and whose programs are in the other."""
        sources = [f"{_chosen(body, code).strip()}\n" for body in self.voters]
        return Family(
            name=f"{self.name}-{'ab'[text]}{'ab'[code]}",
            title=self.name,
            category=self.category,
            language="en",
            generator=HEAD + _chosen(self.generator, code).strip() + "\n",
            template=(
                f"{_chosen(self.text, text).strip()}\n\n<!-- question -->\n"
                f"{_chosen(self.question, text).strip()}\n"
            ),
            validator=sources[0],
            validators={"second": sources[1], "third": sources[2]},
            answer=Answer(self.answer),
        )


def _chosen(text: str, form: int) -> str:
    return _CHOICE.sub(lambda match: match[1 + form], text)


def good() -> Iterator[Family]:
    """Yield the families whose programs do what the text says."""
    yield from (case.family(*form) for case in CASES for form in case.forms if form[0] == form[1])


def faulty() -> Iterator[Family]:
    """Yield the families whose programs all do the other thing."""
    yield from (case.family(*form) for case in CASES for form in case.forms if form[0] != form[1])


CASES = tuple(
    TwoReadings(
        **{name: tuple(map(tuple, value)) if name == "forms" else value for name, value in case.items()}
    )
    for case in tomllib.loads(Path(__file__).with_suffix(".toml").read_text())["case"]
)
"""Thirty-one families, most in two good and two faulty forms."""
