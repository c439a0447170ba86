"""Reference of feedback: which request shows a model what decided about the candidates before, by line."""

from __future__ import annotations

from collections.abc import Iterator

from cells import code, table

from evolake.agents.attempts import Feedback, feedback_of_line
from evolake.lines import lines

HEAD = """# What decides, and who reads it

Columns that decide about a candidate, and the fields of requests that show them to the roles that propose the next
ones, as each line declares them. A test compares this with the tables, the requests and the prompts.
"""  # noqa: E501


def feedback_page() -> str:
    """Return the page, one section for each line that declares its feedback."""
    return HEAD + "".join(
        section(line, feedback) for line in lines() if (feedback := feedback_of_line(line)) is not None
    )


def section(line: str, feedback: Feedback) -> str:
    """Return a heading and a table."""
    return f"\n## {line}\n\n{table(['column', 'read in', 'or why not'], rows_of(feedback))}"


def rows_of(feedback: Feedback) -> Iterator[list[str]]:
    """Yield a row for each column that is declared."""
    for column, places in feedback.shown.items():
        yield [code(column), ", ".join(map(code, places)), ""]
    for column in feedback.missing:
        yield [code(column), "", "it decides, and no request has it yet"]
    for reason, columns in feedback.left_out.items():
        yield [", ".join(map(code, columns)), "", reason]
