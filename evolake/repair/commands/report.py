"""`evolake repair report`: tables, figures and pages of the study that the lake holds."""

from __future__ import annotations

from pathlib import Path

import click

from evolake import settings as settings_module
from evolake.commands import OrdinaryPath
from evolake.terminal import say, say_json


@click.command(short_help="Write the study's report from the lake.")
@click.option("--out", required=True, type=OrdinaryPath(file_okay=False), help="The folder to write into.")
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output, nothing else.")
def report(out: Path, as_json: bool) -> int:
    """Rebuild the report (HTML, LaTeX source, figures, CSV and Parquet tables; a PDF where pdflatex or
    tectonic is installed) from the lake."""
    from evolake.repair.report.data import read_report
    from evolake.repair.report.files import write_report
    from evolake.repair.report.narrative import answers, caution, headline, setting
    from evolake.repair.report.pdf import write_pdf

    result = read_report(settings_module.load().require_lake())
    written = write_report(result, out)
    pdf, said_of_pdf = write_pdf(out)
    written += [pdf] if pdf else []
    if as_json:
        said = {
            "setting": setting(result),
            "headline": headline(result),
            "reasons": answers(result),
            "files": [str(path) for path in written],
        }
        say_json({"verdict": "written", "study_sha": result.study["study_sha"], "pdf": said_of_pdf} | said)
        return 0
    say(
        f"report: {out / 'report.html'}   LaTeX: {out / 'report.tex'}   figures: {out / 'figures'}   "
        f"tables: {out / 'tables'}"
    )
    say(f"PDF: {said_of_pdf}")
    for sentence in (setting(result), caution(result), headline(result), *answers(result)):
        say(f"  {sentence}")
    return 0
