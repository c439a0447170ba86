"""Data Docs of Great Expectations: for each cycle of a line a site of static pages, which show what every
suite expected of which rows and what it found.

    python -m pipelines.data_docs     what `make dev` starts: serves the sites on this machine's loopback

A site is made when its first page is asked for, and again when the cycle's tables have changed: a cycle that
nobody looks at pays nothing. Its suites judge the lake once more, as the checks of the cycle did.
"""

from __future__ import annotations

import re
import shutil
import sys
import threading
from collections.abc import Iterable, Sequence
from functools import cache
from http import HTTPStatus
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING, Any

from assets.line import DATA_DOCS, is_cycle_key
from evolake import settings as settings_module
from evolake.errors import EvolakeError
from evolake.lake import Lake
from evolake.report.pages import render
from evolake.scratch import Scratch
from evolake.terminal import warn

if TYPE_CHECKING:
    from assets.checks import Suite

HOST, PORT = "127.0.0.1", int(DATA_DOCS.rpartition(":")[2])
SITE = "cycle"
ELSEWHERE = re.compile(
    r"<(script|link|img)\b[^>]*(?:src|href)\s*=\s*[\"']https?:[^>]*>(?:\s*</script>)?", re.DOTALL
)
"""What Great Expectations' pages load from other machines: styles, scripts, a logo."""
TEMPLATES = "evolake.report"
POLICY = "default-src 'self' 'unsafe-inline' data:"
"""What a browser may load for a page: nothing from elsewhere."""


def write_site(folder: Path, lake: Lake, cycle: str, suites: Iterable[Suite]) -> int:
    """Judge `suites` on what the lake holds of `cycle` and write their Data Docs; returns how many were
    judged. A suite whose asset has no rows there is left out.

    Raises:
        LakeError: a table is damaged.
    """
    from assets.checks import load_expectations

    load_expectations()
    import great_expectations as gx
    import great_expectations.expectations as gxe
    from great_expectations.data_context.types.base import ProgressBarsConfig

    context = gx.get_context(mode="ephemeral")
    context.variables.progress_bars = ProgressBarsConfig(globally=False)
    store: Any = {"class_name": "TupleFilesystemStoreBackend", "base_directory": str(folder)}
    site: Any = {"class_name": "SiteBuilder", "store_backend": store, "show_how_to_buttons": False}
    site["site_index_builder"] = {"class_name": "DefaultSiteIndexBuilder"}
    for known in list(context.get_site_names()):
        context.delete_data_docs_site(known)
    context.add_data_docs_site(SITE, site)
    source = context.data_sources.add_pandas("lake")
    found: list[tuple[Suite, bool]] = []
    for suite in suites:
        line, asset = suite.asset
        if lake.record(line, asset, cycle) is None:
            continue
        frame = suite.frame(lake.read(line, asset, cycle), lake, cycle)
        name = f"{asset}.{suite.name}"
        batch = source.add_dataframe_asset(name).add_batch_definition_whole_dataframe(f"cycle {cycle}")
        expected = gx.ExpectationSuite(
            name=name, expectations=list(suite.expectations(gxe)), notes=suite.description
        )
        definition = gx.ValidationDefinition(name=name, data=batch, suite=context.suites.add(expected))
        result = context.validation_definitions.add(definition).run(
            batch_parameters={"dataframe": frame.to_pandas()},
            run_id=gx.RunIdentifier(run_name=f"{line}-{cycle}"),
        )
        found.append((suite, bool(result.success)))
    context.build_data_docs()
    style = render(TEMPLATES, "data_docs_style.html.j2")
    for page in folder.rglob("*.html"):
        page.write_text(ELSEWHERE.sub("", page.read_text(encoding="utf-8")) + style, encoding="utf-8")
    (folder / "index.html").write_text(_contents(folder, cycle, found), encoding="utf-8")
    return len(found)


def _contents(folder: Path, cycle: str, found: Sequence[tuple[Suite, bool]]) -> str:
    """Return the first page of a site: each suite with what it said. That of Great Expectations is a table
    which scripts from elsewhere fill."""
    rows: list[dict[str, Any]] = []
    for suite, passed in found:
        [page] = folder.glob(f"validations/{suite.asset[1]}/{suite.name}/**/*.html")
        rows.append(
            {
                "asset": suite.asset[1],
                "name": suite.name,
                "page": page.relative_to(folder).as_posix(),
                "passed": passed,
                "description": suite.description,
            }
        )
    line = found[0][0].asset[0] if found else ""
    return page_of(f"{line}, cycle {cycle}", suites=rows)


def page_of(heading: str, **values: Any) -> str:
    """Return a page of our own. values: of `data_docs.html.j2`."""
    given = {"heading": heading, "problem": "", "suites": [], "lake": "", "lines": {}} | values
    return str(render(TEMPLATES, "data_docs.html.j2", **given))


@cache
def _suites() -> dict[str, Sequence[Suite]]:
    from assets.checks import suites_of
    from pipelines.lines import built_lines

    return {built.line.name: suites_of(built.checks) for built in built_lines()}


class Sites:
    """The sites of one lake, below `folder`. Made one at a time."""

    def __init__(self, folder: Path, lake: Lake):
        self._folder, self._lake = folder, lake
        self._made: dict[tuple[str, str], dict[tuple[str, ...], str | None]] = {}
        self._lock = threading.Lock()

    def make(self, line: str, cycle: str) -> bool:
        """Make the site of a cycle if it is not there or the tables have changed. False: there is nothing to
        show.

        Raises:
            LakeError: a table is damaged.
        """
        suites = _suites().get(line, ()) if is_cycle_key(cycle) else ()
        records = {suite.asset: self._lake.record(line, suite.asset[1], cycle) for suite in suites}
        now = {asset: record.content_sha if record else None for asset, record in records.items()}
        if not any(now.values()):
            return False
        with self._lock:
            if self._made.get((line, cycle)) != now:
                shutil.rmtree(self._folder / line / cycle, ignore_errors=True)
                write_site(self._folder / line / cycle, self._lake, cycle, suites)
                self._made[line, cycle] = now
        return True

    def index(self) -> str:
        """Return the page that lists the cycles of all lines."""
        cycles = {line: self._lake.seals.cycles(line)[:-1] for line in _suites()}
        sealed = {line: some for line, some in cycles.items() if some}
        return page_of("Data Docs", lake=str(self._lake.root), lines=sealed)


def serve(sites: Sites, folder: Path, port: int = PORT) -> ThreadingHTTPServer:
    """Return a server of `sites` on loopback, which answers nobody that came by another name than its own.

    Raises:
        OSError: the port is taken.
    """

    class Handler(SimpleHTTPRequestHandler):
        def __init__(self, *given: Any, **more: Any):
            super().__init__(*given, directory=str(folder), **more)

        def do_GET(self) -> None:
            if self.headers.get("Host", "").partition(":")[0] not in ("localhost", HOST):
                return self.send_error(HTTPStatus.FORBIDDEN)
            parts = self.path.partition("?")[0].strip("/").split("/")
            if parts == [""]:
                return self._say(sites.index())
            try:
                if len(parts) < 2 or (
                    parts[2:] in ([], ["index.html"]) and not sites.make(parts[0], parts[1])
                ):
                    return self.send_error(HTTPStatus.NOT_FOUND, "no table of this cycle has a suite")
            except EvolakeError as error:
                page = page_of("Data Docs", problem=str(error))
                return self._say(page, HTTPStatus.INTERNAL_SERVER_ERROR)
            return super().do_GET()

        def _say(self, page: str, status: HTTPStatus = HTTPStatus.OK) -> None:
            self.send_response(status)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.end_headers()
            self.wfile.write(page.encode())

        def end_headers(self) -> None:
            self.send_header("Content-Security-Policy", POLICY)
            super().end_headers()

        def log_message(self, format: str, *args: Any) -> None:
            """Say nothing: the terminal is Dagster's."""

    return ThreadingHTTPServer((HOST, port), Handler)


def main() -> None:
    """Serve until this process is ended."""
    lake = Lake(settings_module.load().require_lake())
    with Scratch("datadocs") as folder:
        try:
            server = serve(Sites(Path(folder), lake), Path(folder))
        except OSError as error:
            warn(f"Data Docs are not served: {HOST}:{PORT}: {error.strerror}")
            return
        server.serve_forever()


if __name__ == "__main__":
    sys.exit(main())
