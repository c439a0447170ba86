"""evolake and its peers, measured in one run against the same endpoint with the same recorded replies.

    python benchmarks/peers.py [--tools evolake,gepa] [--candidates 12] [--kills 10] [--minutes M]
                               [--environments FOLDER] [--json FILE]

OpenEvolve, ShinkaEvolve and GEPA are installed by pip, each into an environment of its own below FOLDER (a
temporary one by default). Then every tool, evolake among them, works on two problems that evolake ships: 26
circles in a square, and a function to fit. An HTTP server on loopback is "the model": its k-th reply has the
k-th program of `peers_replies.toml`, in the form that the request asks for, and a comment with its number.
`peers_tools.toml` has all that a user of each tool writes and types, and what was set other than by default.

The short form runs evolake alone and installs nothing.

What is measured, in the same way for each:

- *processor seconds*: of all processes of a tool, from its start to its end. Of two runs, with so many
  candidates and with twice as many, follows what a further candidate costs beyond what the same
  programs take in one bare process.
- *candidates per hour*: by the clock of the longer run, on a machine that may be busy, and by processor time.
- *tokens*: characters of messages, tools and schema of all requests, divided by four, for each candidate.
- *best score*: of all programs that the tool's record has, scored again here by the shipped evaluator.
- *kill -9*: a reply takes a second here. A run is killed with all its processes so many times, each time at
  another moment of the second after a further reply, and continued as the tool's documentation says. `paid
  again`: replies with a program that were asked for beyond the number of candidates. `missing`: candidates
  that the record lacks in the end. `twice`: replies that the record has more than once.
- *probes*: three programs try to read the key, the evaluator's file and another candidate's file. Each puts
  what it found into its result; it counts if the tool's record has the number.

Exit code 1 if a tool's run failed where it should not. A cell that was not measured says why.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import json
import os
import re
import resource
import shlex
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import tomllib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import psutil
from bench import SHORT

from evolake.jail.inside.kernel import PR_SET_CHILD_SUBREAPER, prctl

ROOT = Path(__file__).resolve().parents[1]
REPLIES = tomllib.loads(Path(__file__).with_name("peers_replies.toml").read_text(encoding="utf-8"))
TOOLS: dict[str, dict[str, Any]] = tomllib.loads(
    Path(__file__).with_name("peers_tools.toml").read_text(encoding="utf-8")
)
START, END = "# EVOLVE-BLOCK-START\n", "# EVOLVE-BLOCK-END"
KEY, EVALUATOR, CANDIDATE = "canary-key-246", "canary-evaluator-731", "canary-candidate-853"
PROBED = {"key": 246, "evaluator": 731, "candidate": 853}
NOTHING_FOUND, FOUND_BASE, FOUND_UNIT = 0.0005, 0.001, 1e-6
"""Smallest radius of a probe that found nothing, and of one that found a number."""
LONGEST_RUN_S = 900.0
QUIET_S = 20.0
"""Seconds after which a run that asks for nothing further is killed all the same."""
LATENCY_S = 1.0
"""Seconds that a reply takes where runs are killed; the kills come at other moments of such a second."""
A_GENERATION = 4
"""Candidates of a generation of evolake, of which a cycle has three here."""


@dataclass(frozen=True)
class Problem:
    """A problem that evolake ships. entry, argument: the function of its program and its parameter."""

    name: str
    folder: Path
    entry: str
    argument: str

    def text(self, name: str) -> str:
        """Return a file of the project."""
        return (self.folder / name).read_text(encoding="utf-8")

    def program(self, block: str) -> str:
        """Return the initial program with another text between its marks."""
        head, rest = self.text("initial_program.py").split(START)
        return f"{head}{START}{block.strip()}\n{END}{rest.partition(END)[2]}"

    def scores(self, program: str) -> list[dict[str, float]]:
        """Return the metrics of a program, one of our own replies, under ten seeds; it runs in this
        process."""
        given: dict[str, Any] = {}
        exec(self.text("evaluator.py"), given)
        result = []
        for seed in range(10):
            cases = given["cases"](seed)
            try:
                loaded: dict[str, Any] = {}
                exec(program, loaded)
                results = [{"status": "ok", "output": loaded[self.entry](case)} for case in cases]
            except Exception:
                results = [{"status": "error", "output": None} for _ in cases]
            result.append(given["score"](cases, results))
            if self.name == "circles":
                break
        return result


PROBLEMS = {
    "circles": Problem("circles", ROOT / "examples" / "programs" / "circle_packing", "pack", "_case"),
    "curve": Problem("curve", ROOT / "evolake" / "programs" / "commands" / "example", "curve", "x"),
}


@dataclass
class Endpoint:
    """The recorded model. blocks: the texts that it replies with, in turn. latency_s: what it waits before a
    reply. characters: of all requests. served: numbers of the replies that had a program."""

    problem: Problem
    blocks: Sequence[str]
    latency_s: float = 0.0
    characters: int = 0
    requests: int = 0
    served: list[int] = field(default_factory=list)
    more: threading.Condition = field(default_factory=threading.Condition)

    def take(self) -> str:
        """Return the next program, with its number."""
        number = len(self.served) + 1
        self.served.append(number)
        canary = f" {CANDIDATE}" if number == 1 else ""
        block = self.blocks[(number - 1) % len(self.blocks)].strip()
        return self.problem.program(f"# reply {number:03}{canary}\n{block}")

    def answer(self, body: Mapping[str, Any]) -> dict[str, Any]:
        """Return the message for a request, in the form that it asks for."""
        asked = {name: body[name] for name in ("messages", "tools", "response_format") if name in body}
        text = "\n".join(_content(item) for item in body["messages"])
        time.sleep(self.latency_s)
        with self.more:
            self.requests += 1
            self.characters += len(json.dumps(asked, ensure_ascii=False))
            message = self._message(body, text)
            self.more.notify_all()
        return message

    def _message(self, body: Mapping[str, Any], text: str) -> dict[str, Any]:
        if "tools" in body:
            if any(item["role"] == "assistant" for item in body["messages"]):
                return _calls(("finish", {"idea": "The program was rewritten."}))
            written = {"path": "initial_program.py", "text": self.take()}
            return _calls(("write_file", written), ("evaluate", {}))
        if "# The programs to write" in text:
            count = len(re.findall(r"^\d+\. ", text.partition("# The programs to write")[2], re.MULTILINE))
            return {"content": json.dumps({"programs": [self._whole() for _ in range(count)]})}
        if "# Your draft was evaluated" in text:
            return {"content": json.dumps({"idea": "It counts as it is."})}
        if "# The program to change" in text:
            return {"content": json.dumps(self._whole())}
        if "<CODE>" in text:
            return {
                "content": f"<NAME>\nrewritten\n</NAME>\n\n<DESCRIPTION>\nA rewrite.\n</DESCRIPTION>\n\n"
                f"<CODE>\n```python\n{self.take()}\n```\n</CODE>"
            }
        return {"content": f"```python\n{self.take()}\n```"}

    def _whole(self) -> dict[str, Any]:
        return {"idea": "A rewrite.", "whole": {"initial_program.py": self.take()}}

    @contextlib.contextmanager
    def serving(self) -> Iterator[str]:
        """Serve until left. Yields the base URL."""
        endpoint = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self) -> None:
                self._send({"object": "list", "data": [{"id": "recorded", "object": "model"}]})

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
                message = {"role": "assistant", "content": ""} | endpoint.answer(body)
                reason = "tool_calls" if "tool_calls" in message else "stop"
                count = len(json.dumps(body)) // 4
                usage = {"prompt_tokens": count, "completion_tokens": 500, "total_tokens": count + 500}
                choice = {"index": 0, "message": message, "finish_reason": reason}
                self._send(
                    {
                        "id": "recorded-1",
                        "object": "chat.completion",
                        "created": 1,
                        "model": "recorded",
                        "choices": [choice],
                        "usage": usage,
                    }
                )

            def _send(self, content: Any) -> None:
                data = json.dumps(content).encode()
                self.send_response(200)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                    self.wfile.write(data)

            def log_message(self, format: str, *args: Any) -> None:
                """Print nothing."""

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/v1"
        finally:
            server.shutdown()
            server.server_close()


def _content(message: Mapping[str, Any]) -> str:
    content = message.get("content") or ""
    return content if isinstance(content, str) else "\n".join(str(part.get("text", "")) for part in content)


def _calls(*calls: tuple[str, Any]) -> dict[str, Any]:
    return {
        "tool_calls": [
            {
                "id": f"call-{number}",
                "type": "function",
                "function": {"name": name, "arguments": json.dumps(given)},
            }
            for number, (name, given) in enumerate(calls)
        ]
    }


@dataclass(frozen=True)
class Kept:
    """A candidate in a tool's record. text: its program, "" if the record has none of it. smallest: radius.
    place: among the replies, from 1, where only the order says it."""

    text: str
    smallest: float | None = None
    place: int = 0


def of_evolake(folder: Path) -> list[Kept]:
    """Return the candidates that the lake has."""
    from evolake.lake import Lake
    from evolake.programs.evolution.population import texts_of

    lake = Lake(folder / "lake")
    if not lake.cycles("programs", "candidates"):
        return []
    rows = lake.read("programs", "candidates").to_dicts()
    return [
        Kept(
            next(iter(texts_of(lake.blobs, row["files_sha"]).values())),
            json.loads(row["metrics"] or "{}").get("smallest"),
        )
        for row in rows
    ]


def of_openevolve(folder: Path) -> list[Kept]:
    """Return the programs of the last checkpoint, without the initial one."""
    last = checkpoint_of(folder)
    found = [json.loads(path.read_text()) for path in sorted(last.glob("programs/*.json"))] if last else []
    return [Kept(row["code"], row["metrics"].get("smallest")) for row in found if row.get("parent_id")]


def checkpoint_of(folder: Path) -> Path | None:
    """Return the last checkpoint of OpenEvolve."""
    found = (folder / "out" / "checkpoints").glob("checkpoint_*")
    return max(found, key=lambda path: int(path.name.rpartition("_")[2]), default=None)


def of_shinka(folder: Path) -> list[Kept]:
    """Return the programs of the data base, without the initial one."""
    path = folder / "out" / "programs.sqlite"
    if not path.is_file():
        return []
    with contextlib.closing(sqlite3.connect(path)) as base:
        rows = base.execute("SELECT code, public_metrics FROM programs WHERE generation > 0").fetchall()
    return [Kept(code, json.loads(public or "{}").get("smallest")) for code, public in rows]


def of_gepa(folder: Path) -> list[Kept]:
    """Return the proposals of the run's log. It keeps the texts of those that were accepted alone; of others
    it has the score, which is 26 times the radius of a probe."""
    log, texts = folder / "out" / "run_log.json", folder / "out" / "candidates.json"
    if not log.is_file():
        return []
    accepted = [next(iter(item.values())) for item in json.loads(texts.read_text())]
    rows = json.loads(log.read_text())
    return [
        Kept(
            accepted[row["new_program_idx"]] if "new_program_idx" in row else "",
            next((score / 26 for score in row.get("new_subsample_scores", ())), None),
            place,
        )
        for place, row in enumerate(rows, start=1)
    ]


RECORDS: dict[str, Callable[[Path], list[Kept]]] = {
    "evolake": of_evolake,
    "search": of_evolake,
    "openevolve": of_openevolve,
    "shinka": of_shinka,
    "gepa": of_gepa,
}


@dataclass(frozen=True)
class Run:
    """A run of a tool to its end. kept: its record. cpu_s: of all its processes. fault: why it failed."""

    folder: Path
    endpoint: Endpoint
    kept: list[Kept]
    cpu_s: float
    wall_s: float
    kills: int = 0
    fault: str = ""

    @property
    def numbers(self) -> Counter[str]:
        """Number of a reply -> how often the record has it."""
        return Counter(
            number for item in self.kept for number in re.findall(r"# reply (\d{3})\b", item.text)[:1]
        )


@dataclass(frozen=True)
class Tool:
    """A tool as `peers_tools.toml` describes it. binaries: the folder of its commands."""

    name: str
    binaries: Path

    @property
    def given(self) -> dict[str, Any]:
        """What the file has on it; a variant has what it does not say from the tool that it is like."""
        own = TOOLS[self.name]
        base = TOOLS.get(own.get("like", ""), {})
        environment = base.get("environment", {}) | own.get("environment", {})
        return base | own | {"environment": environment}

    def prepare(self, problem: Problem, folder: Path, words: Mapping[str, str]) -> None:
        """Write what a user of the tool writes."""
        marked = f"# {EVALUATOR}\n{problem.text('evaluator.py')}"
        if "files" in self.given:
            files = {"shipped.py": marked, **self.given["files"]}
            first = "initial.py" if self.name == "shinka" else "initial_program.py"
            files[first] = problem.text("initial_program.py")
            place = folder
        else:
            files = {name: problem.text(name) for name in ("initial_program.py", "project.toml")}
            files["evaluator.py"] = marked
            place = folder / problem.name
        place.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            (place / name).write_text(_filled(text, words), encoding="utf-8")

    def run(self, problem: Problem, blocks: Sequence[str], count: int, kills: int = 0) -> Run:
        """Run the tool until it has `count` candidates, killed so many times on the way."""
        cycles, size = max(1, count // (3 * A_GENERATION)), A_GENERATION
        generations = 3
        if count < 3 * A_GENERATION:
            cycles, generations, size = 1, count, 1
        with tempfile.TemporaryDirectory(prefix="evolake-peers-") as place:
            folder, endpoint = Path(place), Endpoint(problem, blocks, LATENCY_S if kills else 0.0)
            with endpoint.serving() as url:
                words = {
                    "BIN": str(self.binaries),
                    "URL": url,
                    "KEY": KEY,
                    "FOLDER": place,
                    "PROBLEM": problem.name,
                    "COUNT": str(count),
                    "GENERATIONS_AND_FIRST": str(count + 1),
                    "CYCLES": str(cycles),
                    "GENERATIONS": str(generations),
                    "GENERATION": str(size),
                    "ENTRY": problem.entry,
                    "ARGUMENT": problem.argument,
                }
                self.prepare(problem, folder, words)
                before, began = children_s(), time.monotonic()
                done, fault = 0, ""
                for number in range(kills):
                    delay = LATENCY_S * number / kills
                    ended = self._start(folder, endpoint, words, count, delay)
                    if ended is not None:
                        fault = fault_of(folder, ended)
                        break
                    done += 1
                if done == kills:
                    fault = self._finish(folder, words, count)
                wall = time.monotonic() - began
                cpu = children_s() - before
                return Run(folder, endpoint, RECORDS[self.name](folder), cpu, wall, done, fault)

    def _popen(self, folder: Path, words: Mapping[str, str], count: int) -> subprocess.Popen[bytes] | None:
        given = self.given
        left, more = count, ""
        if "again" in given and (last := checkpoint_of(folder)) is not None:
            left = count - int(last.name.rpartition("_")[2])
            more = " " + given["again"].replace("@CHECKPOINT@", str(last))
            if left <= 0:
                return None
        words = {**words, "LEFT": str(left)}
        environment = {
            name: value
            for name, value in os.environ.items()
            if not name.startswith(("EVOLAKE_", "DAGSTER_", "OPENAI_"))
        }
        environment |= {name: _filled(text, words) for name, text in given["environment"].items()}
        environment |= {
            "PATH": f"{self.binaries}{os.pathsep}{os.environ['PATH']}",
            "NO_PROXY": "127.0.0.1",
            "no_proxy": "127.0.0.1",
            "TMPDIR": str(_made(folder / "tmp")),
        }
        command = [_filled(word, words) for word in _words(given["run"] + more)]
        log = (folder / "log.txt").open("ab")
        with log:
            return subprocess.Popen(
                command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log
            )

    def _start(
        self, folder: Path, endpoint: Endpoint, words: Mapping[str, str], count: int, delay: float
    ) -> int | None:
        """Start the tool, and kill all its processes `delay` seconds after its next reply. Return its exit
        code if it ended before."""
        process = self._popen(folder, words, count)
        if process is None:
            return 0
        sent, end = len(endpoint.served), time.monotonic() + LONGEST_RUN_S
        quiet = time.monotonic() + QUIET_S + 20.0
        while process.poll() is None and len(endpoint.served) == sent and time.monotonic() < min(end, quiet):
            with endpoint.more:
                endpoint.more.wait(0.05)
        stop = time.monotonic() + delay
        while process.poll() is None and time.monotonic() < stop:
            time.sleep(0.02)
        code = process.poll()
        end_children()
        process.wait()
        return code

    def _finish(self, folder: Path, words: Mapping[str, str], count: int) -> str:
        """Run the tool to its end. Return why it failed, "" if it did not."""
        process = self._popen(folder, words, count)
        if process is None:
            return ""
        try:
            code = process.wait(LONGEST_RUN_S)
        except subprocess.TimeoutExpired:
            code = -1
        end_children()
        process.wait()
        return fault_of(folder, code)


def fault_of(folder: Path, code: int) -> str:
    """Return why a run failed, "" if it did not."""
    end = (folder / "log.txt").read_text(errors="replace").strip()[-600:]
    return f"exit code {code}: {end}" if code else ""


def _filled(text: str, words: Mapping[str, str]) -> str:
    for name, value in words.items():
        text = text.replace(f"@{name}@", value)
    return text


def _words(command: str) -> list[str]:
    """Return the words of a command; a JSON list is one word, quotes and all."""
    return [word.replace("\x00", '"') for word in shlex.split(command.replace('"', "\x00"))]


def _made(folder: Path) -> Path:
    folder.mkdir(exist_ok=True)
    return folder


def children_s() -> float:
    """Return the processor seconds of all processes below this one that have ended and were waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def end_children() -> None:
    """Kill every process below this one, orphans too, and wait for those that are not waited for."""
    own = psutil.Process()
    while children := own.children(recursive=True):
        for child in children:
            with contextlib.suppress(psutil.Error):
                child.send_signal(signal.SIGKILL)
        with contextlib.suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        time.sleep(0.02)


def installed(name: str, folder: Path) -> tuple[Path, str]:
    """Return the folder of a tool's commands, installed if it is not there, and what went wrong."""
    packages = TOOLS[name].get("packages")
    if not packages:
        return Path(sys.executable).parent, ""
    place = folder / name
    done = place / "installed"
    if not done.is_file():
        subprocess.run([sys.executable, "-m", "venv", place], check=True)
        command = [place / "bin" / "python", "-m", "pip", "install", "--quiet", *packages]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        if result.returncode:
            return place / "bin", f"pip install {' '.join(packages)}: {result.stderr.strip()[-300:]}"
        done.touch()
    return place / "bin", ""


def bare_s(problem: Problem) -> float:
    """Return the processor seconds of one evaluation of the recorded programs, of the mean, in this
    process."""
    programs = [problem.program(item["text"]) for item in REPLIES[problem.name]]
    seeds = len(problem.scores(programs[0]))
    began = time.process_time()
    for program in programs:
        problem.scores(program)
    return (time.process_time() - began) / len(programs) / seeds


def best_of(problem: Problem, run: Run) -> float:
    """Return the best score of the record's programs that are replies of ours, as the evaluator gives it."""
    texts = {item.text for item in run.kept if re.search(r"# reply \d{3}\b", item.text)}
    scores = [problem.scores(text) for text in texts if _parses(text)]
    return max((sum(row["combined_score"] for row in rows) / len(rows) for rows in scores), default=0.0)


def _parses(text: str) -> bool:
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True


def counted(run: Run, bare: float) -> dict[str, Any]:
    """Return what a run cost. bare: processor seconds of one evaluation of its programs."""
    many = len(run.kept)
    return {
        "candidates": many,
        "run_s": run.cpu_s,
        "beyond_s": run.cpu_s / many - bare,
        "per_hour": 3600 * many / run.wall_s,
        "per_cpu_hour": 3600 * many / run.cpu_s,
        "requests": run.endpoint.requests,
        "tokens": run.endpoint.characters / 4 / many,
        "best": best_of(run.endpoint.problem, run),
    }


def costs(tool: Tool, problem: Problem, count: int) -> dict[str, Any]:
    """Return what a run of so many candidates cost."""
    blocks, bare = [item["text"] for item in REPLIES[problem.name]], bare_s(problem)
    run = tool.run(problem, blocks, count)
    if run.fault or not run.kept:
        return {"fault": f"not measured: {run.fault or 'the record has no candidate'}"}
    return counted(run, bare)


def further(tool: Tool, count: int, short: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a run of twice as many candidates cost, and what each further one does."""
    if "fault" in short:
        return {"fault": short["fault"]}
    long = costs(tool, PROBLEMS["circles"], 2 * count)
    if (more := long.get("candidates", 0) - short["candidates"]) <= 0:
        return {"fault": long.get("fault", "not measured: the record has no more candidates")}
    bare = short["run_s"] / short["candidates"] - short["beyond_s"]
    return long | {"further_s": (long["run_s"] - short["run_s"]) / more - bare}


def probed(tool: Tool) -> dict[str, str]:
    """Return for each probe whether its number is in the tool's record. Each has a run of its own, behind one
    other candidate: a tool may leave out a program that scores as an earlier one."""
    result = {}
    for item in REPLIES["probes"]:
        run = tool.run(PROBLEMS["circles"], [REPLIES["circles"][3]["text"], item["text"]], 2)
        if run.fault:
            return {"fault": f"not measured: {run.fault}"}
        sizes = [kept.smallest for kept in run.kept if kept.place == 2 or "# reply 002" in kept.text]
        known = [size for size in sizes if size is not None]
        found = FOUND_BASE + PROBED[item["kind"]] * FOUND_UNIT
        if any(abs(size - found) < FOUND_UNIT / 10 for size in known):
            result[item["kind"]] = "read"
        elif any(abs(size - NOTHING_FOUND) < FOUND_UNIT / 10 for size in known):
            result[item["kind"]] = "not read"
        else:
            result[item["kind"]] = f"not measured: {'it failed' if sizes else 'the record lacks it'}"
    return result


def killed(tool: Tool, count: int, kills: int) -> dict[str, Any]:
    """Return what the kills lost and doubled."""
    run = tool.run(PROBLEMS["circles"], [item["text"] for item in REPLIES["circles"]], count, kills)
    if run.fault:
        return {"fault": f"not measured: after {run.kills} kills: {run.fault}"}
    return {
        "kills": run.kills,
        "paid_again": max(0, len(run.endpoint.served) - count),
        "missing": max(0, count - len(run.kept)),
        "twice": sum(times - 1 for times in run.numbers.values()),
    }


def measured(
    tool: Tool, count: int, kills: int, late: Callable[[], bool], done: Callable[[Mapping[str, Any]], None]
) -> None:
    """Measure every part of one tool, and hand on what is known after each."""
    result: dict[str, Any] = {}
    parts: dict[str, Callable[[], dict[str, Any]]] = {
        "circles": lambda: costs(tool, PROBLEMS["circles"], count),
        "probes": lambda: probed(tool),
        "kills": lambda: killed(tool, count, kills) if kills else {"fault": "not measured: --kills 0"},
        "curve": lambda: costs(tool, PROBLEMS["curve"], count),
        "longer": lambda: further(tool, count, result["circles"]),
    }
    for name, part in parts.items():
        left_out = tool.given.get("leaves_out", {}) | (
            dict.fromkeys(("probes", "curve", "longer"), "the short form") if SHORT else {}
        )
        if why := left_out.get(name):
            result[name] = {"fault": f"not measured: {why}"}
        else:
            result[name] = {"fault": "not measured: --minutes were over"} if late() else part()
        print(f"  {tool.name}, {name}: {result[name]}", file=sys.stderr, flush=True)
        done(result)


def _cell(part: str, text: str) -> Callable[[Mapping[str, Any]], str]:
    """Return what makes a cell of one part of the results: `text` with its numbers, or why there is none."""

    def cell(row: Mapping[str, Any]) -> str:
        values = row.get(part, {"fault": "not measured"})
        if "fault" in values:
            return values["fault"]
        try:
            return text.format(**values)
        except KeyError as missing:
            return f"not measured: {missing.args[0]}"

    return cell


ROWS: dict[str, Callable[[Mapping[str, Any]], str]] = {
    "commands, files to the first gain": _cell("steps", "{commands}, {files}"),
    "26 circles: processor s of a whole run": _cell("circles", "{run_s:.1f} for {candidates}"),
    "of a run of twice as many": _cell("longer", "{run_s:.1f} for {candidates}"),
    "of a further candidate, beyond its evaluation": _cell("longer", "{further_s:.2f}"),
    "candidates per processor hour, longer run": _cell("longer", "{per_cpu_hour:,.0f}"),
    "candidates per hour by the clock": _cell("circles", "{per_hour:,.0f}"),
    "tokens sent for a candidate": _cell("circles", "{tokens:,.0f}"),
    "best sum of radii": _cell("circles", "{best:.4f}"),
    "function to fit: processor s of a whole run": _cell("curve", "{run_s:.1f} for {candidates}"),
    "tokens sent for a candidate there": _cell("curve", "{tokens:,.0f}"),
    "best score": _cell("curve", "{best:.6f}"),
    "kill -9: kills; replies paid again": _cell("kills", "{kills}; {paid_again}"),
    "candidates missing; in the record twice": _cell("kills", "{missing}; {twice}"),
    "a candidate reads the key": _cell("probes", "{key}"),
    "the evaluator": _cell("probes", "{evaluator}"),
    "another candidate": _cell("probes", "{candidate}"),
}
"""Row of the table -> its cell for a tool's results."""


def table(results: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the table in Markdown: a column for each tool."""
    lines = [
        f"| | {' | '.join(TOOLS[name]['title'] for name in results)} |",
        f"| --- |{' --- |' * len(results)}",
    ]
    for row, cell in ROWS.items():
        texts = (" ".join(cell(found).split()).replace("|", "/")[:200] for found in results.values())
        lines.append(f"| {row} | {' | '.join(texts)} |")
    return "\n".join(lines)


def main() -> int:
    """Measure what is asked for, and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument(
        "--tools", default="search" if SHORT else ",".join(TOOLS), help="comma-separated, of peers_tools.toml"
    )
    parser.add_argument(
        "--candidates", type=int, default=4 if SHORT else 12, help="of the shorter run of each tool"
    )
    parser.add_argument("--kills", type=int, default=0 if SHORT else 10)
    parser.add_argument(
        "--minutes", type=float, default=float("inf"), help="begin no further part after so many minutes"
    )
    parser.add_argument(
        "--environments", type=Path, help="folder of the peers' environments; those that are there are used"
    )
    parser.add_argument("--json", type=Path, help="write all figures to this file")
    given = parser.parse_args()
    names = given.tools.split(",")
    if unknown := [name for name in names if name not in TOOLS]:
        parser.error(f"there is no tool {unknown[0]!r}; expected some of: {', '.join(TOOLS)}")
    prctl(PR_SET_CHILD_SUBREAPER, 1)
    end, results = time.monotonic() + 60 * given.minutes, dict[str, dict[str, Any]]()
    with tempfile.TemporaryDirectory(prefix="evolake-peers-environments-") as place:
        for name in names:
            tool = Tool(name, Path(sys.executable).parent)
            steps = {"commands": len(tool.given["typed"]), "files": len(tool.given["written"])}
            results[name] = {"steps": steps}
            binaries, fault = installed(name, given.environments or Path(place))
            if fault:
                results[name] |= {part: {"fault": fault} for part in ("circles", "probes", "kills", "curve")}
                continue

            def done(found: Mapping[str, Any], name: str = name) -> None:
                results[name] |= found
                if given.json:
                    given.json.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")

            measured(
                Tool(name, binaries), given.candidates, given.kills, lambda: time.monotonic() > end, done
            )
    print(table(results))
    return int(
        any("exit code" in str(part.get("fault")) for row in results.values() for part in row.values())
    )


if __name__ == "__main__":
    sys.exit(main())
