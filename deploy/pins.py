"""Write constraints.txt: every package that evolake's commands install, at one version for all supported
Pythons.

    python deploy/pins.py [--upgrade]

uv resolves for the lowest supported Python (3.11.0) and gives up with a reason if that is impossible.
Versions that are pinned already are kept if they can be; `--upgrade` takes the newest. Each pin ends with the
groups that need it, for example `# base` or `# training test`. The Makefile installs a group by these words,
without a resolver.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
import tomllib
from pathlib import Path

from packaging.markers import default_environment
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]
FILE = ROOT / "constraints.txt"
LOWEST = "3.11.0"
PYTHONS = (LOWEST, "3.12.0", "3.13.0")
MACHINES = ("x86_64", "aarch64")
CUDA = re.compile(r"(nvidia|cuda)-|triton$")
"""Packages that only the CUDA build of torch needs."""
HEAD = """\
# Every package that `make demo`, `make test` and the extras install. Written by `make constraints`; do not edit by hand.
# The words behind a pin are the groups that need it: base, then pyproject.toml's extras; cuda: the CUDA build of torch.
"""  # noqa: E501


def resolve(extra: str | None, known: str, *, upgrade: bool) -> dict[str, Requirement]:
    """Return name -> pinned requirement of evolake with one extra, or of all extras for "all".

    known: pins to keep if possible, in the format of a requirements file.
    """
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "pins.txt"
        out.write_text("" if upgrade else known)
        chosen = {None: [], "all": ["--all-extras"]}.get(extra, ["--extra", extra or ""])
        command = [
            "uv",
            "pip",
            "compile",
            "--quiet",
            "--universal",
            "--fork-strategy",
            "fewest",
            "--python-version",
            LOWEST,
            "--no-annotate",
            "--no-header",
            "--output-file",
            str(out),
            *chosen,
            str(ROOT / "pyproject.toml"),
        ]
        done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(f"no versions fit Python {LOWEST}: {done.stderr.strip()}")
        pins = [Requirement(line) for line in out.read_text().splitlines()]
    twice = {pin.name for pin in pins if sum(other.name == pin.name for other in pins) > 1}
    if twice:
        sys.exit(f"pinned at more than one version: {', '.join(sorted(twice))}; bound them in pyproject.toml")
    return {pin.name: pin for pin in pins}


def where_needed(pin: Requirement) -> str | None:
    """Return the marker under which Linux needs the pin: "" if always, None if never."""
    if pin.marker is None:
        return ""
    places = [
        {
            **default_environment(),
            "sys_platform": "linux",
            "platform_system": "Linux",
            "os_name": "posix",
            "platform_machine": machine,
            "python_full_version": python,
            "python_version": python.rpartition(".")[0],
            "implementation_name": "cpython",
            "platform_python_implementation": "CPython",
        }
        for python in PYTHONS
        for machine in MACHINES
    ]
    holds = [pin.marker.evaluate(place) for place in places]
    if all(holds):
        return ""
    return str(pin.marker) if any(holds) else None


def main() -> None:
    """Resolve every group and write the file."""
    parser = argparse.ArgumentParser(description="Write constraints.txt.")
    parser.add_argument(
        "--upgrade", action="store_true", help="take the newest versions, not those that are pinned"
    )
    upgrade = parser.parse_args().upgrade
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    pinned = [
        re.sub(r"\s+# .*", "", line) for line in FILE.read_text().splitlines() if not line.startswith("#")
    ]
    everything = resolve("all", "\n".join(pinned), upgrade=upgrade)
    known = "\n".join(map(str, everything.values()))
    base = resolve(None, known, upgrade=False).keys()
    needed = {extra: resolve(extra, known, upgrade=False).keys() - base for extra in sorted(extras)}
    lines = []
    for name, pin in sorted(everything.items()):
        marker = where_needed(pin)
        if marker is None:
            continue
        groups = [extra for extra, names in needed.items() if name in names]
        if (
            name in base or name == "pip"
        ):  # pip is upgraded first: older ones download a whole wheel to read its metadata
            groups = ["cuda" if CUDA.match(name) else "base"]
        condition = f" ; {marker}" if marker else ""
        lines.append(f"{name}{pin.specifier}{condition}  # {' '.join(groups)}")
    FILE.write_text(HEAD + "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
