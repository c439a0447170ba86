"""The example on the page of a family's contract: the very files that `evolake families new` writes, put
between the page's marks.

python docs/generate/family_page.py     write the page again, after a change of the example
"""

from __future__ import annotations

from pathlib import Path

from evolake.families.commands.authoring import EXAMPLE_ID, FILES

PAGE = Path(__file__).resolve().parents[1] / "contracts" / "family.md"
BEGIN, END = "<!-- example: written by docs/generate/family_page.py -->\n", "<!-- end of the example -->\n"
FIRST = ("generator.py", "template.md", "validator.py")
"""The files that are enough to load."""
LANGUAGES = {".py": "python", ".md": "markdown", ".toml": "toml"}
ADDED = (
    (
        ("family.toml", "mutations.toml"),
        "With these three, `evolake families check` says `blocked at the gate 'static': the statement "
        "still holds [Rule reach]`: the rule has no wording yet. Its wordings, the numbers that operators "
        "may set and the lists that they may cut are in `mutations.toml`, the title and the answer's type "
        "in `family.toml`:",
    ),
    (
        ("validators/asking.py", "validators/metres.py"),
        "Now it says `blocked at the gate 'consensus': 0 independent validators, at least 2 are needed`. "
        "Each of them uses another method than the primary, and each contains the rule, as it is in "
        "force, under the name of the point in capitals:",
    ),
    (
        ("reader.py",),
        "The last file lets reviewers who see the text alone answer by it (here each input is in a slot, "
        "so that a reader would be learnt as well). With it the family is accepted:",
    ),
)
"""(files, what makes one add them), in the order of the gates."""


def example() -> str:
    """Return the section: three files, and what is added to them until the family is accepted."""
    parts = [
        f"These are the files of `evolake families new {EXAMPLE_ID}`, which is accepted as it is. The "
        "first three are enough to load:\n"
    ]
    parts += [block(name) for name in FIRST]
    for names, why in ADDED:
        parts += [f"{why}\n", *(block(name) for name in names)]
    return "\n".join(parts)


def block(name: str) -> str:
    """One file."""
    return f"`{name}`\n\n```{LANGUAGES[Path(name).suffix]}\n{FILES[name]}```\n"


def page(text: str) -> str:
    """Return the page with the example of today. Raises ValueError where a mark is missing."""
    head, rest = text.split(BEGIN)
    _, tail = rest.split(END)
    return f"{head}{BEGIN}\n{example()}\n{END}{tail}"


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text()))
