"""The gain of a solver in a bundle: the other solver is built here, and the two meet on formulas that are
drawn here."""

from __future__ import annotations

import secrets
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evolake.bundles.measuring import consensus_score
from evolake.bundles.model import Judging, Said
from evolake.errors import LakeError, MachineryError
from evolake.report.numbers import counted
from evolake.solvers.measurement.benchmark import MeasuringPlan, run_limits, stage_limits
from evolake.solvers.measurement.duel import Contender
from evolake.solvers.measuring_again import (
    GAIN,
    Duel,
    Recipes,
    beside,
    drawn,
    met_again,
    recipes_in,
    unfounded,
)
from evolake.solvers.settings import SolversSettings

if TYPE_CHECKING:
    from evolake.settings import Settings
    from evolake.solvers.execute import Program
    from evolake.solvers.gates.verifying import Verified
    from evolake.solvers.repository.adapters import Adapter
    from evolake.solvers.repository.build import BuildResult
    from evolake.solvers.suites import Suite

OTHER = "other.tar.zst"
MOST_BYTES = 256 << 20
LIMITS = ("timeout_s", "memory_mb", "proof_mb", "proof_timeout_s", "proof_memory_mb")
"""What a run and the check of a proof may take, which this machine's settings decide."""


def stated(
    judging: Judging,
    duel: Duel | None,
    settings_then: Mapping[str, Any],
    root_seed: int,
    verified: Verified,
    settings: Settings,
) -> Iterator[Said]:
    """Yield the stated properties of a champion: its gain over the one that it succeeded. Its score is the
    consensus of a population that is not here.

    Args:
        duel, settings_then, root_seed: of the bundle's claims. settings: of this process, with the lake that
            builds are kept in.
    """
    held = judging.bundle.facts["champion"]
    if held is None:
        return
    yield from consensus_score(held["score"])
    if held["gain"] is None:
        return
    if refused := unfounded(held, duel, judging.artifact_id, root_seed):
        yield Said(GAIN, "fails", refused, gain=True)
        return
    assert duel is not None
    yield Said(
        GAIN,
        "recomputed",
        f"{held['gain']['text']}: it follows from {counted(len(duel.trials), 'run')} of the duel in the "
        "bundle",
    )
    sizes = SolversSettings.model_validate(settings_then)
    recipes = recipes_in(duel, sizes.duel_suite or sizes.train_suite, settings.seeds)
    if isinstance(recipes, str):
        yield Said(GAIN, "fails", recipes, gain=True)
        return
    if recipes is None:
        yield Said(
            GAIN,
            "unmeasured",
            "the suite of its duel is not installed here, so that no formulas of it can be drawn",
            gain=True,
        )
        return
    yield from _duelled(judging, duel, sizes, recipes, verified, settings)


def _duelled(
    judging: Judging,
    duel: Duel,
    sizes: SolversSettings,
    recipes: Recipes,
    verified: Verified,
    settings: Settings,
) -> Iterator[Said]:
    """Yield the duel here; with the installed seed, too, if the other solver is none of the installed
    ones."""
    from evolake.solvers.measurement.measuring import usable_cores
    from evolake.solvers.repository.variant import read_card, source_sha

    gain = judging.bundle.facts["champion"]["gain"]
    folder = unpacked(judging, OTHER)
    if (made := source_sha(folder)) != gain["against_id"]:
        yield Said(
            "the other solver",
            "fails",
            f"{OTHER} has the id {made[:12]}, and the gain is stated over {gain['against_id'][:12]}",
        )
        return
    cache = settings.require_lake() / "cache" / "solvers"
    seeds = _seed_folders({str(gain.get("against")), read_card(folder)["base"]}, settings)
    ids = {name: source_sha(place) for name, place in seeds.items()}
    if gain.get("against") in ids and ids[gain["against"]] != made:
        yield Said(
            "the other solver",
            "fails",
            f"it is called {gain['against']}, and is not the seed of that name that is installed here",
        )
        return
    judging.progress("the other solver is built")
    cores = len(usable_cores())
    assert verified.judged.build is not None
    own = Contender(judging.artifact_id, _opened(verified.folder, verified.judged.build, settings))
    other = Contender(made, _opened(folder, _built(folder, settings), settings))
    suite = _formulas_anew(drawn(recipes, judging.sample), judging, settings)
    limits = run_limits(duel.trials[0].timeout_s, sizes.memory_mb, sizes.proof_mb)
    plan = MeasuringPlan(limits, proof_limits=stage_limits(sizes).proof, verdicts=cache / "proofs")
    judging.progress(f"duel on {counted(len(suite.instances), 'formula')} that are drawn here")
    yield from met_again(own, other, suite, duel, gain, plan, judging.sample, cores=cores)
    base = read_card(folder)["base"]
    if made not in ids.values() and base in seeds:
        judging.progress(f"duel with the seed {base}")
        seed = Contender(ids[base], _opened(seeds[base], _built(seeds[base], settings), settings))
        yield beside(base, own, seed, suite, plan, cores)


def _seed_folders(names: set[str], settings: Settings) -> dict[str, Path]:
    """Return name -> repository of the installed seed of that name, of those that are seeds."""
    from evolake.lake import Lake
    from evolake.solvers.repository.seeding import lay_out_seed
    from evolake.solvers.repository.seeds_file import load_seeds

    known = load_seeds(settings.seeds / "solvers.toml")
    blobs, cache = Lake(settings.require_lake()).blobs, settings.require_lake() / "cache" / "solvers"
    return {
        name: lay_out_seed(known[name], blobs, cache, adapters=settings.seeds / "solvers" / "adapters")
        for name in sorted(names & set(known))
    }


def _built(folder: Path, settings: Settings) -> BuildResult:
    from evolake.lake import Lake
    from evolake.solvers.repository.build import build_variant
    from evolake.solvers.repository.variant import check_layout

    adapter = _adapter(folder, settings)
    if problems := check_layout(folder, adapter):
        raise ValueError(f"the other solver's sources are not laid out as they must be: {problems[0]}")
    result = build_variant(folder, adapter, Lake(settings.require_lake()).blobs)
    if not result.ok:
        raise MachineryError(
            "the other solver cannot be built here", got=result.reason, do="see evolake doctor"
        )
    return result


def _opened(folder: Path, build: BuildResult, settings: Settings) -> Program:
    from evolake.lake import Lake
    from evolake.solvers.repository.build import open_program

    return open_program(
        build,
        _adapter(folder, settings),
        Lake(settings.require_lake()).blobs,
        settings.require_lake() / "cache" / "solvers",
    )


def _adapter(folder: Path, settings: Settings) -> Adapter:
    from evolake.solvers.repository.adapters import load_adapter
    from evolake.solvers.repository.variant import read_card

    return load_adapter(read_card(folder)["adapter"], settings.seeds / "solvers" / "adapters")


def _formulas_anew(recipes: Recipes, judging: Judging, settings: Settings) -> Suite:
    """Formulas of these recipes under a secret of this check alone; they are kept nowhere."""
    from evolake.lake import Lake
    from evolake.lake.blobs import BlobStore
    from evolake.solvers.repository.seeding import seed_trees
    from evolake.solvers.suites.fresh import FreshKey, fresh_suite

    blobs, cache = Lake(settings.require_lake()).blobs, settings.require_lake() / "cache" / "solvers"
    trees = seed_trees(blobs, cache, seeds=settings.seeds / "solvers.toml")
    made = fresh_suite(
        recipes.suite,
        BlobStore(judging.folder / "drawn"),
        judging.folder / "formulas",
        FreshKey(secrets.token_bytes(32), 0, "bundle"),
        seeds=settings.seeds,
        count=recipes.first,
        trees=trees,
    )
    wanted = {f"{name}@bundle" for name in recipes.names}
    return replace(made, instances=tuple(item for item in made.instances if item.name in wanted))


def unpacked(judging: Judging, member: str) -> Path:
    """Return the folder of the sources in a member."""
    from evolake.lake.trees import unpack
    from evolake.solvers.repository.variant import is_laid_out, read_card

    folder = judging.folder / member.partition(".")[0]
    require_bounded(judging.bundle.members[member])
    try:
        unpack(judging.bundle.members[member], folder, MOST_BYTES)
    except LakeError as error:
        raise ValueError(f"its sources cannot be unpacked: {error.got}") from None
    if not is_laid_out(folder):
        raise ValueError("its sources are not laid out as a variant")
    if (adapter := read_card(folder)["adapter"]).endswith(".toml"):
        raise MachineryError(
            "its adapter is a file, which a bundle does not carry",
            wanted="the name of an adapter that is installed here",
            got=adapter,
        )
    return folder


def require_bounded(packed: bytes) -> None:
    """Raise ValueError where packed sources are more than MOST_BYTES as an archive, headers and all; nothing
    is written."""
    from evolake.reading import Bomb, Damaged, decompressed

    try:
        for _ in decompressed([packed], MOST_BYTES, name="solver", kind="zstd"):
            pass
    except Bomb:
        raise ValueError(
            f"its sources are more than {MOST_BYTES:,} bytes when they are unpacked, or expand too much"
        ) from None
    except Damaged as error:
        raise ValueError(f"its sources cannot be unpacked: {error.got}") from None
