"""What the objects of a seed save its variants: one changed file, built with them and without, and the seed
that is built first; in an empty store.

    python benchmarks/solver_builds.py [--seed cadical195] [--file restart.cpp] [--json]

Seconds of processor time of the jail that were spent now, as `BuildResult` has them. The two programs must be
the same bytes.
"""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from datetime import UTC, datetime
from pathlib import Path

import click

from evolake.lake import BlobStore
from evolake.solvers.repository.adapters import load_adapter
from evolake.solvers.repository.build import BuildResult, build_variant
from evolake.solvers.seeds.seeding import lay_out_seed, seed_named

CHANGE = "\nint evolake_changes_this(int x) { return x + 1; }\n"


def built(folder: Path, name: str, *, seed: bool = False, again: bool = False) -> BuildResult:
    """Return a build in a lake that has no stored builds."""
    with tempfile.TemporaryDirectory() as lake:
        result = build_variant(
            folder, load_adapter(seed_named(name).adapter), BlobStore(Path(lake)), seed=seed, again=again
        )
    if not result.ok:
        raise SystemExit(f"{name} does not build: {result.reason}")
    return result


@click.command()
@click.option("--seed", default="cadical195", show_default=True)
@click.option("--file", default="restart.cpp", show_default=True, help="The source that is changed.")
@click.option("--json", "as_json", is_flag=True)
def main(seed: str, file: str, as_json: bool) -> None:
    """Print seconds and ratio."""
    with tempfile.TemporaryDirectory(prefix="evolake-builds-") as parent:
        work = Path(parent)
        os.environ["XDG_CACHE_HOME"] = str(work / "cache")
        folder = lay_out_seed(seed_named(seed), BlobStore(work / "lake"), work, now=datetime.now(UTC))
        changed = work / "variant"
        shutil.copytree(folder, changed)
        [source] = [path for path in changed.rglob(file) if path.is_file()]
        source.write_text(source.read_text(encoding="latin-1") + CHANGE, encoding="latin-1")
        first, reusing, whole = (
            built(folder, seed, seed=True),
            built(changed, seed),
            built(changed, seed, again=True),
        )
    if reusing.program != whole.program:
        raise SystemExit("the program that was built with objects of its seed is another one")
    spent_s = reusing.cpu_s - reusing.reused_s
    result = {
        "seed": seed,
        "changed": file,
        "seed_s": first.cpu_s,
        "with_objects_s": spent_s,
        "without_s": whole.cpu_s,
        "ratio": whole.cpu_s / spent_s,
        "reused": reusing.reused,
    }
    if as_json:
        print(json.dumps(result))
        return
    print(
        f"{seed}, {file} changed: {spent_s:.1f} cpu s with {reusing.reused} objects of the seed, "
        f"{whole.cpu_s:.1f} without ({result['ratio']:.1f} times), as the seed's own {first.cpu_s:.1f}"
    )


if __name__ == "__main__":
    main()
