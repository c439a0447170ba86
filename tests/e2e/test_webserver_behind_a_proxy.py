"""docs/operations.md, "Who can reach the UI": a reverse proxy with a login before a webserver that only
shows, below a path of the proxy's own."""

import base64
import http.client
import json
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from toy_location.site import LOCATION, Site, running_site

pytestmark = [pytest.mark.e2e, pytest.mark.slow]
PREFIX = "/evolake"
LOGIN = "Basic " + base64.b64encode(b"ana:secret").decode()
LOADED = "{ version repositoriesOrError { ... on RepositoryConnection { nodes { location { name } } } } }"
START = f"""mutation {{ startSchedule(scheduleSelector: {{repositoryLocationName: "{LOCATION}", repositoryName: "__repository__",
    scheduleName: "gated_nightly"}}) {{ __typename }} }}"""  # noqa: E501


@contextmanager
def proxy_before(port: int) -> Iterator[int]:
    """A proxy on a free port of loopback: what has the login it hands on, as it is, to `port`."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.headers.get("Authorization") != LOGIN:
                self.send_response(401)
                self.send_header("WWW-Authenticate", "Basic")
                self.end_headers()
                return
            body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            behind = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
            behind.request(
                self.command,
                self.path,
                body,
                {"Content-Type": self.headers.get("Content-Type") or "text/plain"},
            )
            answer = behind.getresponse()
            data = answer.read()
            self.send_response(answer.status)
            self.send_header("Content-Type", answer.getheader("Content-Type") or "")
            self.end_headers()
            self.wfile.write(data)

        do_POST = do_GET

        def log_message(self, format: str, *args: Any) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield server.server_address[1]
    finally:
        server.shutdown()
        server.server_close()


def asked(port: int, path: str, query: str = "", login: str = LOGIN) -> tuple[int, str]:
    """(status, body) of one request to the proxy."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    body = json.dumps({"query": query}) if query else None
    connection.request(
        "POST" if query else "GET", path, body, {"Authorization": login, "Content-Type": "application/json"}
    )
    answer = connection.getresponse()
    return answer.status, answer.read().decode()


def start(site: Site) -> None:
    """The code server, and a webserver that only shows."""
    where = ["-h", "127.0.0.1", "-p", str(site.code_port), "-d", str(site.above), "--location-name", LOCATION]
    site._spawn(
        "code",
        [
            sys.executable,
            str(Path(__file__).parents[1] / "toy_location" / "forking_server.py"),
            site.module,
            *where,
        ],
    )
    server = [
        "-h",
        "127.0.0.1",
        "-p",
        str(site.port),
        "-w",
        str(site.folder / "workspace.yaml"),
        "--read-only",
        "--path-prefix",
        PREFIX,
    ]
    site._spawn("webserver", [sys.executable, "-m", "dagster_webserver", *server])


def test_who_logs_in_sees_the_lines_and_starts_nothing(tmp_path):
    with running_site(tmp_path / "site") as site, proxy_before(site.port) as port:
        start(site)

        def loaded() -> bool:
            try:
                status, body = asked(port, f"{PREFIX}/graphql", LOADED)
            except (ConnectionError, http.client.HTTPException):
                return False
            return status == 200 and f'"{LOCATION}"' in body

        site.wait("the code location to load", loaded, 300)
        assert asked(port, f"{PREFIX}/graphql", LOADED, login="Basic nobody")[0] == 401
        status, page = asked(port, f"{PREFIX}/assets")
        assert status == 200 and f"{PREFIX}/_next/static" in page and '"pathPrefix": "/evolake"' in page
        script = page.partition(f'src="{PREFIX}/')[2].partition('"')[0]
        assert asked(port, f"{PREFIX}/{script}")[0] == 200
        status, refused = asked(port, f"{PREFIX}/graphql", START)
        assert (
            status == 200
            and json.loads(refused)["data"]["startSchedule"]["__typename"] == "UnauthorizedError"
        )
