"""The article as a PDF, by a TeX engine of the machine: evolake brings none, and a report without one is
whole but for `report.pdf`.

The engine runs no program and, but for tectonic, which fetches packages that it lacks, asks no network. What
it writes next to the article stays in a separate folder. The PDF bears no date, so one engine makes the same
bytes of the same article.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

from evolake.scratch import Scratch

ARTICLE, PDF = "report.tex", "report.pdf"
ENGINES = {
    "pdflatex": ("-no-shell-escape", "-interaction=nonstopmode", "-halt-on-error", "-output-directory"),
    "tectonic": ("--untrusted", "--chatter", "minimal", "--outdir"),
}
"""Program -> its options, the last one of which takes the folder to write into; the first that is there is
taken."""
LIMIT_S = 180
DATELESS = {"SOURCE_DATE_EPOCH": "0", "FORCE_SOURCE_DATE": "1"}
LONGEST_REASON = 200


def find_engine() -> str | None:
    """Return path of the engine that `write_pdf` takes; None where PATH has none."""
    return next((path for name in ENGINES if (path := shutil.which(name))), None)


def write_pdf(folder: Path) -> tuple[Path | None, str]:
    """Compile the article in `folder`, next to its figures. Gives the PDF's path, None if there is none, and
    what was done, as one line.

    An engine that fails or takes longer than `LIMIT_S` seconds is no error: the line says so, and an earlier
    PDF is left as it is.
    """
    path, pdf = find_engine(), folder / PDF
    if path is None:
        return None, f"none: no TeX engine ({' or '.join(ENGINES)}) is on PATH{_stale(pdf)}"
    name = Path(path).name
    with Scratch("tex") as made:
        command = [path, *ENGINES[name], made, ARTICLE]
        try:
            done = subprocess.run(
                command,
                cwd=folder,
                env=os.environ | DATELESS,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                errors="replace",
                timeout=LIMIT_S,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return None, f"none: {name} took longer than {LIMIT_S} s{_stale(pdf)}"
        except OSError as error:
            return None, f"none: {path} cannot be run ({error.strerror}){_stale(pdf)}"
        written = Path(made) / PDF
        if done.returncode or not written.is_file():
            return (
                None,
                f"none: {name} ended with {done.returncode}: "
                f"{_reason(done.stdout + done.stderr)}{_stale(pdf)}",
            )
        pdf.write_bytes(written.read_bytes())
    return pdf, f"{pdf} ({name})"


def _reason(said: str) -> str:
    """Return the first line that TeX marks as an error, else the last line that it wrote."""
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    marked = [line for line in lines if line.startswith(("!", "error:"))]
    return ((marked or lines[-1:])[0] if lines else "it said nothing")[:LONGEST_REASON]


def _stale(pdf: Path) -> str:
    return f"; {pdf} is of an earlier report" if pdf.exists() else ""
