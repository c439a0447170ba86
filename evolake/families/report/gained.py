"""What the families line gained, to be repeated and to be seen: how many questions with a label come from
families that evolved, and one of them with its answer and who else found it."""

from __future__ import annotations

from evolake.lake import Lake
from evolake.report.artifacts import Exhibit
from evolake.report.numbers import counted
from evolake.report.standing import Ask

COUNTED = """
SELECT count(DISTINCT family_id)::INTEGER AS families, count(*)::INTEGER AS questions,
  (count(*) FILTER (votes = voters))::INTEGER AS unanimous
FROM families.instances WHERE family_id IN (SELECT family_id FROM families.accepted) AND cycle <= $cycle"""
SHORTEST, LONGEST = 150, 700
"""Characters of a statement that a reader of the report reads."""
QUESTION = f"""
WITH seen AS (SELECT family_id, count(*)::INTEGER AS reviews, (count(*) FILTER (matched))::INTEGER AS matched
  FROM families.blind_reviews GROUP BY family_id)
SELECT i.text, i.answer, i.voters, i.votes, c.title, p.title AS parent, reviews, matched
FROM families.instances AS i JOIN families.candidates AS c USING (family_id) LEFT JOIN seen USING (family_id)
  LEFT JOIN families.seeds AS p ON p.family_id = c.parents[1]
WHERE family_id IN (SELECT family_id FROM families.accepted) AND i.cycle <= $cycle AND i.language = 'en'
  AND length(i.text) BETWEEN {SHORTEST} AND {LONGEST}
ORDER BY i.votes = i.voters DESC, matched DESC, i.cycle DESC, length(i.text), i.instance_id LIMIT 1"""


def gained(_lake: Lake, ask: Ask) -> str:
    """Return how many families and questions evolution added; "" for none."""
    row = ask(COUNTED)[0]
    if not row["families"]:
        return ""
    split = row["unanimous"] < row["questions"]
    rest = f" on {row['unanimous']:,} labels, most of them on the others" if split else ""
    return (
        f"{counted(row['families'], 'new puzzle family', 'new puzzle families')} with "
        f"{counted(row['questions'], 'labelled question')}; all programs that answer agree{rest}"
    )


def exhibit(_lake: Lake, ask: Ask) -> Exhibit:
    """Return one question of an evolved family, its label, and who else found it."""
    found = ask(QUESTION)
    if not found:
        return Exhibit(note="no evolved question is short enough to show: evolake families gallery has all")
    row = found[0]
    origin = f", evolved from {row['parent']}" if row["parent"] else ""
    said = [f"{row['votes']} of {row['voters']} programs gave it"]
    if row["reviews"]:
        said.append(
            f"reviewers who saw only the question had the label in {row['matched']} of {row['reviews']} "
            "questions of this family"
        )
    return Exhibit(
        texts={
            f"A question of the new family {row['title']}{origin}": row["text"],
            f"Its label: {'; '.join(said)}": row["answer"],
        }
    )
