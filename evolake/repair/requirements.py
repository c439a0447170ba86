"""What the study can use of the machine."""

from __future__ import annotations

from evolake.lines import Requirement
from evolake.repair.report.page import PDF, find_engine


def requirements() -> list[Requirement]:
    """Return a TeX engine, which nothing but the PDF of the report asks for: without one the doctor names it
    and calls nothing skipped."""
    missing = (
        f"none: the repair study's report stays without {PDF} (optional; apt-get install "
        "texlive-latex-recommended lmodern)"
    )
    return [Requirement("TeX engine", True, find_engine() or missing, "", "")]
