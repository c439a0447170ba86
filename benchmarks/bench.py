"""Run the benchmarks of this folder one after the other, and say how each ended. `make bench` runs this.

    python benchmarks/bench.py [--full] [NAME ...]      default: each that is a program, in its short form

A short form (`python benchmarks/NAME.py --short`) takes at most a minute on two cores and shows that the
benchmark works; its figures are too few to quote. `--full` runs each with the defaults that its own text
describes: together many hours. A benchmark that fails does not keep the others from running; exit code 1 if
one failed. One that lacks something says what and counts as skipped.

Benchmarks import from here, first of all: `SHORT`, `skip`, `fresh_file`, and the folder tests/, which is put
on the path for material that both use.
"""

from __future__ import annotations

import atexit
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn

FOLDER = Path(__file__).resolve().parent
SKIPPED = 77
"""Exit code of a benchmark that lacks something."""
SHORT_S = 60.0
ENDS = {0: "done", SKIPPED: "SKIPPED"}

SHORT = "--short" in sys.argv
"""Whether this process is to run the short form. The flag is taken away: benchmarks read their own words."""
if SHORT:
    sys.argv.remove("--short")
sys.path.insert(0, str(FOLDER.parent / "tests"))


def skip(reason: str) -> NoReturn:
    """End this process as skipped, and say why."""
    print(f"skipped: {reason}", flush=True)
    raise SystemExit(SKIPPED)


def fresh_file(name: str) -> Path:
    """Return a file that is not there yet; it is removed when this process ends."""
    folder = tempfile.mkdtemp(prefix="evolake-bench-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return Path(folder) / name


def programs(folder: Path) -> list[Path]:
    """Return the benchmarks of a folder: its files that can be run, without this one."""
    return [
        path
        for path in sorted(folder.glob("*.py"))
        if path.name != Path(__file__).name and '__name__ == "__main__"' in path.read_text(encoding="utf-8")
    ]


def run_all(paths: Sequence[Path], *, full: bool) -> int:
    """Run benchmarks in turn and print a line for each at the end. Return how many failed."""
    lines, failed, began = [], 0, time.monotonic()
    for path in paths:
        print(f"== {path.stem}", flush=True)
        start = time.monotonic()
        command = [sys.executable, str(path), *([] if full else ["--short"])]
        code = subprocess.run(command, check=False).returncode
        seconds = time.monotonic() - start
        failed += code not in ENDS
        late = f", longer than {SHORT_S:.0f} s" if seconds > SHORT_S and not full else ""
        lines.append(f"{path.stem:<32}{seconds:>7.0f} s  {ENDS.get(code, f'FAILED ({code})')}{late}")
        print(f"== {lines[-1]}\n", flush=True)
    total = f"{len(paths)} benchmarks in {time.monotonic() - began:.0f} s, {failed} failed"
    print("\n".join([*lines, total]))
    return failed


def main(words: Sequence[str]) -> int:
    """Run what is named, else all. Return 1 if one failed, else 0."""
    found = {path.stem: path for path in programs(FOLDER)}
    names = [word.removesuffix(".py") for word in words if word != "--full"]
    if unknown := sorted(set(names) - set(found)):
        print(f"there is no benchmark {unknown[0]!r}; expected some of: {', '.join(found)}", file=sys.stderr)
        return 2
    return int(run_all([found[name] for name in names or found], full="--full" in words) > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
