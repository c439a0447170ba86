"""The cookbook: each question of sql/cookbook with its SQL and the answer that a lake of `make demo` gave.

Answers are recorded, as a site is built without a lake: `python docs/generate/record_answers.py LAKE` asks
them all again and writes docs/generate/answers.json. A question without an answer, or whose SQL is another
than the one that was asked, is an error.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from cells import table

ROOT = Path(__file__).resolve().parent.parent.parent
ANSWERS = Path(__file__).with_name("answers.json")
HEAD = """# Cookbook of SQL

Questions that come with evolake. The answers are those of one lake of `make demo` (three cycles, two cores), that of `rule_history` one of three cycles of programs in which a rule was edited twice; wide ones are cut. Yours differ.

Ten questions of a data engineer, and the file that answers each:

{questions}"""  # noqa: E501
ENGINEER = {
    "Which gate blocked most since a day?": "gates_since",
    "What changed after a new version of a rule?": "verdict_flips",
    "Which rule blocked which artifact, and why?": "blocked_by_rule",
    "Which calls led to the champion?": "champion_calls",
    "Which artifacts does the champion descend from?": "champion_ancestors",
    "What did an accepted artifact cost in money and tokens?": "cost_per_accepted",
    "What did an accepted artifact cost in processor time?": "cpu_per_accepted",
    "What does a run affect?": "blast_radius",
    "Which checks failed, and why?": "failed_checks",
    "How reliable are the calls of each role?": "model_call_health",
}
"""Question -> file."""
OWN = (
    "\nWhich ancestor brought a line of the champion's code is a question to programs alone: "
    "`evolake sql --file program_blame`.\n"
)


def cookbook_page() -> str:
    """Return the page, one section a question.

    Raises:
        ValueError: the answers that are recorded are not those of today's questions.
    """
    questions = {path.stem: path.read_text() for path in sorted((ROOT / "sql" / "cookbook").glob("*.sql"))}
    answers = json.loads(ANSWERS.read_text())
    if stale := sorted(
        name
        for name in questions.keys() | answers.keys()
        if answers.get(name, {}).get("sql") != questions.get(name)
    ):
        raise ValueError(
            f"no answer is recorded to what {', '.join(stale)} asks now: run "
            "docs/generate/record_answers.py LAKE"
        )
    asked = table(["question", "file"], ([words, f"[{name}](#{name})"] for words, name in ENGINEER.items()))
    sections = (section(name, text, answers[name]) for name, text in questions.items())
    return HEAD.format(questions=asked) + OWN + "".join(sections)


def section(name: str, statement: str, answer: dict[str, Any]) -> str:
    """One question: in words, as a command, in SQL, and what came."""
    words, _, sql = statement.partition("\n")
    given = "".join(f" -p {key}={value}" for key, value in answer["parameters"].items())
    command = f"evolake sql --file cookbook/{name}.sql{given}"
    return (
        f"\n## {name}\n\n{words.removeprefix('-- ')}\n\n    {command}\n\n```text\n{answer['answer']}\n"
        f"```\n\n```sql\n{sql.strip()}\n```\n"
    )
