"""A user's own solver: a folder with a card and the sources, which takes part without being named, and stays
what it was when it was taken in."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from evolake.errors import InputError
from evolake.lake import Lake
from evolake.settings import Settings, load
from evolake.solvers.evolution.entering_seeds import SEEDS, items, seed_of
from evolake.solvers.repository.seeds_file import load_seeds, own_seed, seed_names

SHIPPED = Path(__file__).resolve().parents[3] / "data_lake" / "seeds"
CARD = 'adapter = "minisat22"\nlicence = "MIT"\nversion = "2"\n'


def own(folder: Path, card: str = CARD) -> Path:
    (folder / "source").mkdir(parents=True)
    (folder / "source" / "main.cc").write_text("int main() {}\n")
    (folder / "seed.toml").write_text(card)
    return folder


@pytest.fixture
def seeds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(SHIPPED / "solvers" / "adapters", tmp_path / "seeds" / "solvers" / "adapters")
    shutil.copytree(SHIPPED / "solvers" / "patches", tmp_path / "seeds" / "solvers" / "patches")
    shutil.copy(SHIPPED / "solvers.toml", tmp_path / "seeds")
    monkeypatch.setenv("EVOLAKE_SEEDS", str(tmp_path / "seeds"))
    monkeypatch.setenv("EVOLAKE_SOLVERS__SEEDS", '["glucose421"]')
    return tmp_path / "seeds"


def settings() -> Settings:
    return load()


def test_a_folder_takes_part_beside_the_seeds_that_the_settings_name(seeds: Path):
    own(seeds / SEEDS.folder / "mine")
    known = load_seeds(seeds / "solvers.toml")
    assert seed_names(["glucose421"], known) == ["glucose421", "mine"]
    assert (known["mine"].adapter, known["mine"].version, known["mine"].path) == (
        "minisat22",
        "2",
        seeds / "solvers" / "own" / "mine" / "source",
    )
    assert [item.name for item in items(seeds, settings())] == ["glucose421", "mine"]
    with pytest.raises(InputError, match="there is no seed 'nobody'"):
        seed_names(["nobody"], known)


def test_it_is_known_by_its_sources_and_comes_back_as_it_was_kept(seeds: Path, tmp_path: Path):
    folder, blobs = own(seeds / SEEDS.folder / "mine"), Lake(tmp_path / "lake").blobs
    before = items(seeds, settings())[1]
    assert before.also is not None
    blobs.put(before.also())
    kept = before.pack().decode()
    (folder / "source" / "main.cc").write_text("int main() { return 1; }\n")
    assert items(seeds, settings())[1].sha != before.sha
    seed = seed_of(kept, blobs, tmp_path / "cache")
    assert seed.path is not None and (seed.path / "main.cc").read_text() == "int main() {}\n"
    pinned: Any = items(seeds, settings())[0]
    assert (
        seed_of(pinned.pack().decode(), blobs, tmp_path / "cache")
        == load_seeds(seeds / "solvers.toml")["glucose421"]
    )


@pytest.mark.parametrize(
    ("card", "message"),
    [
        ("adapter = ", "cannot be read"),
        (CARD + 'path = "x"\n', "unknown field path"),
        ('adapter = "minisat22"\n', "no licence"),
    ],
)
def test_a_card_that_cannot_be_used_is_told(tmp_path: Path, card: str, message: str):
    with pytest.raises(InputError, match=message):
        own_seed(own(tmp_path / "mine", card))


def test_what_is_given_is_looked_at_before_it_is_copied(seeds: Path, tmp_path: Path):
    assert SEEDS.check(own(tmp_path / "mine")) == "mine"
    with pytest.raises(InputError, match="is no solver of your own"):
        SEEDS.check(tmp_path)
    with pytest.raises(InputError, match="is not what the adapter cadical195 expects"):
        SEEDS.check(own(tmp_path / "other", CARD.replace("minisat22", "cadical195")))
