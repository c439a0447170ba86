"""The title of a variant is whole in tables, though the reply that proposed it had room for sixty
characters."""

from __future__ import annotations

from evolake.solvers.edits import Edit
from evolake.solvers.evolution.proposing.proposal import LONGEST_TITLE, whole_title
from evolake.solvers.roles.models import CodeReply

LONG = Edit(
    "patch",
    "restart-modes",
    {"focused_conflicts": 1000, "growth": 1.25, "stable_conflicts": 2000, "stable_first": True},
)
SHORT = Edit("tunable", "rfirst", {"value": 50})


def test_a_description_that_was_cut_is_whole_again():
    cut = LONG.described()[:LONGEST_TITLE]
    assert len(LONG.described()) > LONGEST_TITLE
    assert whole_title(cut, (SHORT, LONG)) == LONG.described()


def test_other_titles_are_as_they_were_given():
    assert whole_title("Restarts come later", (LONG,)) == "Restarts come later"
    assert whole_title(SHORT.described(), (SHORT,)) == SHORT.described()
    assert whole_title("x" * LONGEST_TITLE, (LONG,)) == "x" * LONGEST_TITLE


def test_the_length_is_that_of_the_reply():
    [bound] = [
        item.max_length for item in CodeReply.model_fields["title"].metadata if hasattr(item, "max_length")
    ]
    assert bound == LONGEST_TITLE
