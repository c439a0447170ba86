"""What MkDocs calls while it builds the site: pages that are written from the code are added, so that none of
them can fall behind it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import TYPE_CHECKING

from checks_page import checks_page
from commands_page import commands_page
from cookbook_page import cookbook_page
from feedback_page import feedback_page
from mkdocs.structure.files import File
from rules_page import rules_page
from settings_page import settings_page
from tables_page import tables_page

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.files import Files

ROOT = Path(__file__).resolve().parent.parent.parent
WRITTEN = {
    "reference/settings.md": settings_page,
    "reference/commands.md": commands_page,
    "reference/tables.md": tables_page,
    "reference/checks.md": checks_page,
    "reference/rules.md": rules_page,
    "reference/feedback.md": feedback_page,
    "cookbook.md": cookbook_page,
}
TAKEN = {
    "contributing.md": "CONTRIBUTING.md",
    "changelog.md": "CHANGELOG.md",
    "examples.md": "examples/README.md",
}  # pages from outside docs/


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Return the files of docs/ with the pages that are written here."""
    pages = {place: write() for place, write in WRITTEN.items()}
    pages |= {place: taken((ROOT / name).read_text()) for place, name in TAKEN.items()}
    for place, text in pages.items():
        files.append(File.generated(config, place, content=text))
    return files


def taken(text: str) -> str:
    """Return a page from outside docs/: its links into docs/ start here, and those to files that are no pages
    are names."""
    return re.sub(r"\[([^\]]+)\]\((?!http|[^)]*\.md[)#])[^)]+\)", r"`\1`", re.sub(r"\]\(docs/", "](", text))
