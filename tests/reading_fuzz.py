"""Fuzz the bounded readers: valid texts are changed at random, and each ends as a value or an input error,
within bounds."""

import bz2
import gzip
import json
import lzma
import time
import zlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import zstandard
from solver_archives import changed, tar, zipped

from evolake.agents.reply_validation import Received, read_completion
from evolake.bundles import container
from evolake.errors import InputError
from evolake.families.sandbox.foreign import read_line
from evolake.gates.rules import parse_rule
from evolake.programs.model.project import project_of
from evolake.reading import decompress, parse_json, parse_toml, parse_yaml
from evolake.reading.archives import tar_entries, zip_entries
from evolake.reading.compressed import Kind
from evolake.reading.files import Unreadable
from evolake.repair.problems import Malformed, parse_candidate, parse_problem
from evolake.solvers.repository.adapters import read_adapter
from evolake.visible import visible_json

SEEDS = Path(__file__).resolve().parents[1] / "data_lake" / "seeds"
LIMIT = 4 << 20
LONGEST_S = 5.0
"""Seconds for one text; the longest takes some tenths of one."""

PROBLEM = (
    '{"id": "p", "variables": {"x1": [0, 9]}, "constraints": [{"id": "c", "coef": {"x1": 1}, "op": "<=", '
    '"rhs": 3}]}'
)
COMPLETION = json.dumps(
    {
        "choices": [{"message": {"content": '{"a": [1, 2]}'}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 1},
        "model": "m",
    }
)
TOML = (
    '[evaluator]\nmode = "separate"\ncpu_s = 2.5\n[program]\nentry = "run"\nfiles = '
    '["initial_program.py"]\nneeds = []\n'
)
YAML = (
    "max_iterations: 10\nevaluator:\n  timeout: 60\n  cascade_thresholds: [0.5, 1]\ndatabase: &d\n  "
    "num_islands: 3\nother: *d\n"
)
PLAIN = b"some text, some text and 1234567890 of it\n" * 50

PACK: Mapping[Kind, Callable[[bytes], bytes]] = {
    "gzip": gzip.compress,
    "xz": lzma.compress,
    "bzip2": bz2.compress,
    "zstd": zstandard.ZstdCompressor().compress,
    "zlib": zlib.compress,
}
BURSTS = (
    b"[" * 3000,
    b'{"a":' * 2000,
    b"9" * 5000,
    b"{a: " * 800,
    b"- " * 2000,
    b"a." * 3000,
    b"\xef\xbb\xbf",
    b"\xc2\xb2",
    b"\0",
    b"&a [*a,*a]",
    b'"""',
    b"\\u",
    b"1e999",
    b"NaN",
    b"-",
    b"\xed\xa0\x80",
    b"\xe2\x80\xae",
    b"\x1b[2J",
    b"0x" + b"f" * 400,
)
"""What random bytes seldom are."""


def _adapter() -> bytes:
    return (SEEDS / "solvers/adapters/minisat22.toml").read_bytes()


def _rule() -> bytes:
    return next(iter(sorted((SEEDS / "rules/solvers").glob("*.md")))).read_bytes()


def _problem() -> Any:
    return parse_problem(PROBLEM)


def _bundle() -> bytes:
    return container.pack({"line": "designs"}, {"claims.json": b'{"a": 1}\n'})


def _read_bundle(data: bytes) -> object:
    bundle = container.unpack(data)
    if isinstance(bundle, container.Bundle):
        bundle.read("claims.json")
    return bundle


def _project(name: str, text: bytes) -> None:
    files = {
        "initial_program.py": b"def run():\n    return 1\n",
        "evaluator.py": b"def evaluate(path):\n    return {}\n",
    }
    project_of("p", files | {name: text})


def _entries(read: Callable[..., Iterator[Any]], data: bytes) -> None:
    for _, file in read(data, name="it"):
        if file is not None:
            file.read(LIMIT)


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _json(data: bytes) -> None:
    value = parse_json(data, name="it")
    text = json.dumps(value, ensure_ascii=False)
    assert json.dumps(json.loads(visible_json(text))) == json.dumps(value)


TARGETS: Mapping[str, tuple[Callable[[], bytes], Callable[[bytes], object]]] = {
    "json": (lambda: COMPLETION.encode(), _json),
    "toml": (lambda: TOML.encode(), lambda data: parse_toml(data, name="it")),
    "yaml": (lambda: YAML.encode(), lambda data: parse_yaml(data, name="it")),
    "project.toml": (lambda: TOML.encode(), lambda data: _project("project.toml", data)),
    "config.yaml": (lambda: YAML.encode(), lambda data: _project("config.yaml", data)),
    "completion": (lambda: COMPLETION.encode(), lambda data: read_completion(_text(data))),
    "rule": (_rule, lambda data: parse_rule(_text(data), "x.md")),
    "adapter": (_adapter, lambda data: read_adapter(_text(data), SEEDS / "solvers/patches")),
    "problem": (lambda: PROBLEM.encode(), lambda data: parse_problem(_text(data))),
    "candidate": (
        lambda: b'{"status": "sat", "assignment": {"x1": 2}}',
        lambda data: parse_candidate(data, _problem()),
    ),
    "family": (
        lambda: json.dumps(
            {"task_id": "t", "question_templates": ["q"], "generator_code": "g", "validator_code": "v"}
        ).encode(),
        lambda data: read_line(_text(data), "line 1"),
    ),
    "bundle": (_bundle, _read_bundle),
    "tar": (lambda: tar(("top/a", b"x" * 900), ("top/b", b"")), lambda data: _entries(tar_entries, data)),
    "zip": (lambda: zipped(("top/a", b"x" * 900)), lambda data: _entries(zip_entries, data)),
    **{
        kind: (
            lambda kind=kind: PACK[kind](PLAIN),
            lambda data, kind=kind: decompress(data, LIMIT, name="it", kind=kind),
        )
        for kind in PACK
    },
}
"""Format -> (a valid text, what reads it)."""
DAMAGED_CONTENTS = ("tar", "zip")
"""Formats whose contents are read by the caller, with the errors of the standard library
(`evolake.reading.archives.DAMAGE`)."""


def texts(rng: np.random.Generator, valid: bytes) -> bytes:
    """A changed text: some bytes differ, or a burst of what parsers fear is put in."""
    data = changed(rng, valid) if rng.random() < 0.7 else valid
    if rng.random() < 0.5:
        place = int(rng.integers(len(data) + 1))
        data = data[:place] + BURSTS[int(rng.integers(len(BURSTS)))] + data[place:]
    return data


def is_refusal(result: object) -> bool:
    """Whether what a reader returned says that the text is of no use."""
    return isinstance(result, container.Refused | Malformed) or (
        isinstance(result, Received) and result.outcome != "received"
    )


def fuzz(name: str, seconds: float, seed: int) -> tuple[int, int]:
    """(texts tried, texts refused) of one format within so many seconds. Whatever is no value and no input
    error is raised."""
    from evolake.reading.archives import DAMAGE

    rng, (make, read), end = np.random.default_rng(seed), TARGETS[name], time.monotonic() + seconds
    valid, tried, refused = make(), 0, 0
    read(valid)
    allowed = (InputError, Unreadable, *(DAMAGE if name in DAMAGED_CONTENTS else ()))
    while tried < 20 or time.monotonic() < end:
        data, began = texts(rng, valid), time.process_time()
        try:
            refused += is_refusal(read(data))
        except allowed:
            refused += 1
        except BaseException as error:
            error.add_note(f"{name}: {data[:2000]!r}")
            raise
        assert time.process_time() - began < LONGEST_S, data[:2000]
        tried += 1
    return tried, refused
