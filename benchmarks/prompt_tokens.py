"""What a cycle of each line asks of a model: calls and tokens by role, next to a baseline.

    python benchmarks/prompt_tokens.py [--lines designs,solvers] [--cycles 1] [--sessions] [--save] [--json] [--prompts FOLDER]

Each line runs from its seeds in a project of its own, with the profile `demo` and the backend `model`,
against an HTTP server on loopback. The server answers each request with what the role's operators reply to
the same request, so the figures are those of the prompts and of the number of calls, not of a model's skill
or length: a reply of a model is longer. The planner and the coder of solvers reply with empty statements as
their change. Operators hold no sessions, so every writer is asked in one-shot. With `--sessions` programs are
written in sessions instead, each of two turns: the whole program with an evaluation, then `finish`. The seeds
of families are taken in by operators; what a model is asked about them is counted as a line of its own.
Tokens are counted with the tokenizer of the bundled model (SmolLM2, 49,152 tokens), if it was unpacked on
this machine; `--json` has characters divided by four, too. The schema that a server is sent as
`response_format` is not counted; the one in the text is. `cached` are the tokens at the beginning of a prompt
that an earlier prompt of the line has, too, in whole blocks of 16 tokens: what a server with a prompt cache
need not read again. The server reports them, so that they reach the rows; `paid` are the others.

`--save` makes the result the baseline, `benchmarks/prompt_tokens.json`, of the lines that ran. `--prompts`
writes every prompt into a folder. Designs, programs and solvers take a minute each, families and prompts
longer.
"""  # noqa: E501

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from os.path import commonprefix
from pathlib import Path
from typing import Any
from unittest.mock import patch

import click
import numpy as np
from bench import SHORT

ROOT = Path(__file__).resolve().parents[1]
BASELINE = Path(__file__).with_suffix(".json")
LINES = ("programs",) if SHORT else ("designs", "programs", "solvers", "prompts", "families")
Counts = dict[str, dict[str, int]]
"""How tokens were counted -> calls, and tokens of each part."""
FAMILIES, SEED_REVIEWS = "families", "families, seeds"
PARTS = ("system", "user", "reply")
CACHED, CACHE_BLOCK = "cached", 16
RESULT = "tokens.json"
BLOCK = "# EVOLVE-BLOCK-START"
TOOLS_MARK = "\n\nThe tools:\n"
SETTINGS = {
    "EVOLAKE_BACKEND": "model",
    "EVOLAKE_PROFILE": "demo",
    "EVOLAKE_PROGRAMS__WRITER": "one-shot",
    "EVOLAKE_DESIGNS__DESIGNER": "one-shot",
    "EVOLAKE_MODEL_API_KEY": "none",
    "EVOLAKE_MODELS": '{"default": "operators"}',
    "EVOLAKE_BUDGET__TOKENS_PER_RUN": "100000000",
    "EVOLAKE_PROGRAMS__PROJECTS": str(ROOT / "examples" / "programs" / "circle_packing"),
    "DAGSTER_DISABLE_TELEMETRY": "1",
    "NO_PROXY": "127.0.0.1",
}


def plain_plans(request: Any) -> dict[str, Any]:
    """Return as many plans as are wanted, each a rewrite of the first parent that is offered."""
    plan = {
        "parent_id": request.standings[0].variant_id,
        "second_parent_id": None,
        "kind": "rewrite",
        "target": "",
        "hypothesis": "Nothing changes.",
    }
    plans = [
        plan | {"instructions": f"Add {number} empty statements."}
        for number in range(1, request.plans_wanted + 1)
    ]
    return {"assessment": "Nothing was tried.", "plans": plans}


def plain_change(request: Any) -> dict[str, Any]:
    """Return a diff that applies to the first excerpt: as many empty statements as the plan asks for."""
    excerpt, count = request.excerpts[0], int(request.instructions.split()[1])
    lines = excerpt.text.split("\n")
    place = next(number for number, text in enumerate(lines) if text.endswith(";"))
    number = excerpt.first_line + place
    head = f"--- a/{excerpt.path}\n+++ b/{excerpt.path}\n@@ -{number},1 +{number},1 @@\n"
    title = f"{count} empty statements"
    return {
        "title": title,
        "changelog": f"Added {title}.",
        "diff": f"{head}-{lines[place]}\n+{lines[place]}{';' * count}\n",
    }


PLAIN_REPLIES = {
    "solvers_planner": plain_plans,
    "solvers_coder": plain_change,
    "solvers_coder_repair": plain_change,
}
"""Role -> its reply, where operators need fields of the request that they get only if they serve the whole
line."""


@cache
def tokenizer() -> Any | None:
    """Return the tokenizer of the bundled model, or None if it was never unpacked here."""
    from tokenizers import Tokenizer

    from evolake.prompts.policies.registry import model_cache

    found = sorted(model_cache(ROOT).glob("*/tokenizer.json"))
    return Tokenizer.from_file(str(found[0])) if found else None


def tokens_of(text: str) -> int:
    """Return the number of tokens of a text; without a tokenizer its characters divided by four."""
    reader = tokenizer()
    return len(reader.encode(text, add_special_tokens=False).ids) if reader else len(text) // 4


class OperatorsServer:
    """An OpenAI-compatible server that replies as a role's operators. `jobs` are the open calls: the text of
    their first two messages -> job."""

    def __init__(self) -> None:
        self.jobs: dict[str, Any] = {}
        self.counts: dict[str, Counts] = defaultdict(
            lambda: {name: dict.fromkeys(("calls", *PARTS, CACHED), 0) for name in ("tokens", "quarter")}
        )
        self.prompts: dict[str, list[str]] = defaultdict(list)
        self.sent: list[str] = []
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = True

    @contextmanager
    def serving(self) -> Iterator[str]:
        """Serve until left. Yields the base URL."""
        thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True
        )
        thread.start()
        try:
            yield f"http://127.0.0.1:{self._server.server_port}/v1"
        finally:
            self._server.shutdown()
            self._server.server_close()
            thread.join()

    def register(self, job: Any) -> None:
        """Remember a call before it is asked."""
        from evolake.agents.prompts import build_messages

        with self._lock:
            self.jobs[_first(build_messages(job.role, job.request))] = job

    def answer(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """Return the completion for a request, and count it."""
        messages = body["messages"]
        with self._lock:
            job = self.jobs[_first(messages)]
        offered = json.dumps(body["tools"], separators=(",", ":")) if "tools" in body else ""
        message = (
            self._session_message(job, messages)
            if job.role.tools
            else {"content": self._operators_reply(job)}
        )
        texts = {
            "system": messages[0]["content"] + offered,
            "user": "\n".join(
                str(item.get("content") or "") + json.dumps(item.get("tool_calls") or "")
                for item in messages[1:]
            ),
            "reply": json.dumps(message["tool_calls"]) if "tool_calls" in message else message["content"],
        }
        counted = {part: tokens_of(text) for part, text in texts.items()}
        prompt = f"{texts['system']}\n{texts['user']}"
        with self._lock:
            shared = prompt[: max((len(commonprefix([prompt, other])) for other in self.sent), default=0)]  # noqa: RUF071
            self.sent.append(prompt)
            counted[CACHED] = tokens_of(shared) // CACHE_BLOCK * CACHE_BLOCK
            quarters = {part: len(text) // 4 for part, text in texts.items()} | {CACHED: len(shared) // 4}
            for name, counts in (("tokens", counted), ("quarter", quarters)):
                row = self.counts[job.role.name][name]
                row["calls"] += 1
                for part, count in counts.items():
                    row[part] += count
            self.prompts[job.role.name].append(
                f"{texts['system']}\n\n=== user ===\n\n{texts['user']}\n\n=== reply ===\n\n{texts['reply']}"
            )
        read = counted["system"] + counted["user"]
        usage = {
            "prompt_tokens": read,
            "completion_tokens": counted["reply"],
            "total_tokens": read + counted["reply"],
            "prompt_tokens_details": {"cached_tokens": counted[CACHED]},
        }
        choice = {
            "index": 0,
            "message": {"role": "assistant"} | message,
            "finish_reason": "tool_calls" if "tool_calls" in message else "stop",
        }
        return {
            "id": "1",
            "object": "chat.completion",
            "created": 1,
            "model": body["model"],
            "choices": [choice],
            "usage": usage,
        }

    def _operators_reply(self, job: Any) -> str:
        if (plain := PLAIN_REPLIES.get(job.role.name)) is not None:
            return json.dumps(plain(job.request))
        return job.role.operators(
            job.request, np.random.Generator(np.random.PCG64(job.seed))
        ).model_dump_json()

    def _session_message(self, job: Any, messages: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
        """Return a turn that needs no model: of a program the whole text, otherwise unchanged, with an
        evaluation; then `finish`."""
        if getattr(job.request, "program", "") and not any(item["role"] == "assistant" for item in messages):
            text = job.request.program.replace(BLOCK, f"{BLOCK}\n# child {job.seed}", 1)
            calls: list[tuple[str, dict[str, str]]] = [
                ("write_file", {"path": job.request.files[0], "text": text}),
                ("evaluate", {}),
            ]
        else:
            calls = [("finish", {"idea": "A comment."} if hasattr(job.request, "program") else {})]
        return {
            "content": "",
            "tool_calls": [
                {
                    "id": str(number),
                    "type": "function",
                    "function": {"name": name, "arguments": json.dumps(arguments)},
                }
                for number, (name, arguments) in enumerate(calls, start=1)
            ],
        }

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        server = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                self._send({"object": "list", "data": [{"id": "operators", "object": "model"}]})

            def do_POST(self) -> None:
                self._send(server.answer(json.loads(self.rfile.read(int(self.headers["Content-Length"])))))

            def _send(self, content: Any) -> None:
                body = json.dumps(content).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, format: str, *args: Any) -> None:
                """Print nothing."""

        return Handler


def _first(messages: Sequence[Mapping[str, Any]]) -> str:
    """Return what names a call: its first two messages. Without functions the system message has more at its
    end, which is left out."""
    return f"{messages[0]['content'].partition(TOOLS_MARK)[0]}\x1f{messages[1]['content']}"


def run_line(line: str, cycles: int, folder: Path) -> None:
    """Run a line in this process, whose environment names the project, and write what was counted into the
    folder."""
    from evolake.agents import session as sessions
    from evolake.agents.model import ModelBackend
    from pipelines.evolve import main

    server, ask, conduct = OperatorsServer(), ModelBackend.ask, sessions.conduct

    def registered_ask(backend: ModelBackend, job: Any, record: Any) -> Any:
        server.register(job)
        return ask(backend, job, record)

    def registered_session(backend: ModelBackend, job: Any, *rest: Any) -> Any:
        server.register(job)
        return conduct(backend, job, *rest)

    asks, holds = (
        patch.object(ModelBackend, "ask", registered_ask),
        patch.object(sessions, "conduct", registered_session),
    )
    with asks, holds, server.serving() as base_url:
        os.environ["EVOLAKE_MODEL_BASE_URL"] = base_url
        code = main(["--lines", line, "--cycles", str(cycles)], standalone_mode=False)
    (folder / RESULT).write_text(
        json.dumps({"code": code, "counts": server.counts, "prompts": server.prompts})
    )


@dataclass(frozen=True)
class Counted:
    """What the cycles of a line asked. roles: by role. prompts: role -> its prompts, each with its reply."""

    roles: dict[str, Counts]
    prompts: dict[str, list[str]]


def count_line(
    line: str, cycles: int, *, operators_seed: bool = False, may_fail: bool = False, sessions: bool = False
) -> Counted:
    """Return what a line asks for in a project and a process of its own.

    operators_seed: whether its seeds are taken in by operators before. may_fail: whether what it asked for
    until it failed counts. sessions: whether programs are written in sessions.
    """
    clean = {
        name: value for name, value in os.environ.items() if not name.startswith(("EVOLAKE_", "DAGSTER_"))
    }
    with tempfile.TemporaryDirectory(prefix="prompt-tokens-") as place:
        folder = Path(place)
        environment = (
            clean | SETTINGS | {"EVOLAKE_LAKE": str(folder / "lake"), "DAGSTER_HOME": str(folder / "home")}
        )
        environment |= {"EVOLAKE_PROGRAMS__WRITER": "session"} if sessions else {}
        if operators_seed:
            _run(
                [sys.executable, "-m", "pipelines.evolve", "--lines", line, "--cycles", "0"],
                environment | {"EVOLAKE_BACKEND": "operators"},
            )
        command = [
            sys.executable,
            str(Path(__file__).resolve()),
            "--child",
            place,
            "--lines",
            line,
            "--cycles",
            str(cycles),
        ]
        said = _run(command, environment)
        result: dict[str, Any] = (
            json.loads((folder / RESULT).read_text())
            if (folder / RESULT).is_file()
            else {"code": "no result"}
        )
    if result["code"] == "no result" or (result["code"] and not may_fail):
        raise click.ClickException(f"the line {line} ended with {result['code']}\n{said}")
    return Counted(result["counts"], result["prompts"])


def _run(command: Sequence[str], environment: Mapping[str, str]) -> str:
    """Run a command, and return the end of what it printed."""
    done = subprocess.run(
        command, env=dict(environment), cwd=ROOT, capture_output=True, text=True, check=False
    )
    return f"{done.stdout[-3000:]}\n{done.stderr[-3000:]}"


def table(counts: Mapping[str, Mapping[str, Any]], before: Mapping[str, Mapping[str, Any]]) -> str:
    """Return a table in Markdown: a row for each role and a sum for each line, with the baseline's tokens
    next to them."""
    lines = [
        "| line | role | calls | system | user | reply | tokens | cached | paid | calls before | tokens "
        "before | change |",
        f"| --- | --- |{' ---: |' * 10}",
    ]
    for line, roles in counts.items():
        old_roles = before.get(line, {})
        for role in sorted({*roles, *old_roles}):
            lines.append(
                _row(
                    line,
                    f"`{role}`",
                    [roles[role]] if role in roles else [],
                    [old_roles[role]] if role in old_roles else [],
                )
            )
        lines.append(_row(line, "**sum**", list(roles.values()), list(old_roles.values())))
    return "\n".join(lines)


def _row(line: str, role: str, now: Sequence[Mapping[str, Any]], before: Sequence[Mapping[str, Any]]) -> str:
    parts = [sum(row["tokens"][name] for row in now) for name in ("calls", *PARTS)]
    total, old = sum(parts[1:]), sum(row["tokens"][part] for row in before for part in PARTS)
    cached = sum(row["tokens"].get(CACHED, 0) for row in now)
    old_calls = sum(row["tokens"]["calls"] for row in before)
    change = f"{(total - old) / old:+.0%}" if old else "new"
    compared = [f"{old_calls:,}", f"{old:,}", change] if before else ["", "", "new"]
    shown = [f"{number:,}" for number in (*parts, total, cached, total - cached)]
    return f"| {' | '.join([line, role, *shown, *compared])} |"


@click.command(help=__doc__)
@click.option("--lines", default=",".join(LINES), show_default=True)
@click.option("--cycles", default=1, show_default=True, type=click.IntRange(min=0))
@click.option("--sessions", is_flag=True)
@click.option("--save", is_flag=True)
@click.option("--json", "as_json", is_flag=True)
@click.option("--prompts", type=click.Path(file_okay=False, path_type=Path))
@click.option("--child", type=click.Path(exists=True, path_type=Path), hidden=True)
def main(
    lines: str,
    cycles: int,
    sessions: bool,
    save: bool,
    as_json: bool,
    prompts: Path | None,
    child: Path | None,
) -> None:
    """Count, print, and save if asked to."""
    if child:
        run_line(lines, cycles, child)
        return
    if prompts:
        prompts.mkdir(parents=True, exist_ok=True)
    kept = json.loads(BASELINE.read_text()) if BASELINE.is_file() else {"lines": {}}
    names = [name.strip() for name in lines.split(",")]
    counted = {
        name: count_line(name, cycles, operators_seed=name == FAMILIES, sessions=sessions) for name in names
    }
    if FAMILIES in counted:
        # no reply of operators reviews a seed family as a model would, so that the seeds do not enter; what
        # was asked about them counts all the same
        counted[SEED_REVIEWS] = count_line(FAMILIES, 0, may_fail=True)
    counts = {name: item.roles for name, item in counted.items()}
    for name, texts in (
        [pair for item in counted.values() for pair in item.prompts.items()] if prompts else ()
    ):
        for number, text in enumerate(texts, start=1):
            ((prompts or Path()) / f"{name}_{number}.txt").write_text(text)
    if save:
        date = datetime.now(UTC).date().isoformat()
        BASELINE.write_text(
            json.dumps(
                {"date": date, "cycles": cycles, "lines": kept["lines"] | counts}, indent=1, sort_keys=True
            )
            + "\n"
        )
    if as_json:
        click.echo(json.dumps(counts))
    else:
        click.echo(
            "tokenizer: "
            f"{'that of the bundled model' if tokenizer() else 'none; characters divided by four'}; "
            f"cycles: {cycles}"
        )
        click.echo(table(counts, kept["lines"]))


if __name__ == "__main__":
    main()
