"""Seeds are fetched once, believed only for their hash, and unpacked without trust."""

import hashlib
import json
import os
import shutil
import subprocess
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from package_index import Index, serving, tar_of, zip_of
from solver_fixtures import ADAPTER, HEADER, MAIN, toy_tree

from evolake.errors import InputError, MachineryError
from evolake.lake import BlobStore, Lake
from evolake.settings import Settings, load
from evolake.solvers.evolution.entering_seeds import SEEDS, items, seed_of
from evolake.solvers.repository.fetch_index import Places, get_file
from evolake.solvers.repository.seeding import fetch_seed, lay_out_seed, seed_named, unpack_archive
from evolake.solvers.repository.seeds_file import load_seeds, own_seed, seed_names
from evolake.solvers.repository.variant import source_sha

NOW = datetime(2026, 1, 2, tzinfo=UTC)
LATER = datetime(2026, 1, 3, tzinfo=UTC)
INNER = tar_of(
    {"toy-1/code/main.cc": MAIN.encode(), "toy-1/code/toy.h": HEADER.encode(), "toy-1/LICENSE": b"MIT\n"}
)
OUTER = tar_of(
    {"many-1/solvers/toy.tar.gz": INNER, "many-1/setup.py": b"open('/tmp/evolake-setup-was-run', 'w')\n"}
)
FILE = "many-1.tar.gz"


def sha(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def seeds_file(folder: Path, place: str, more: str = "") -> Path:
    path = folder / "solvers.toml"
    path.write_text(
        f'{more}\n[[seeds]]\nname = "toy"\nversion = "1"\nadapter = "toy"\nlicence = "MIT"\n{place}\n'
    )
    return path


def from_index(folder: Path, outer: str = sha(OUTER), inner: str = sha(INNER)) -> Path:
    archive = f'[archives.many]\nproject = "many"\nversion = "1"\nfile = "{FILE}"\nsha256 = "{outer}"\n'
    return seeds_file(folder, f'archive = "many"\nmember = "solvers/toy.tar.gz"\nsha256 = "{inner}"', archive)


@pytest.fixture
def pip_index(monkeypatch) -> pytest.MonkeyPatch:
    """pip without the configuration of this machine."""
    for name in ("PIP_FIND_LINKS", "PIP_EXTRA_INDEX_URL", "PIP_NO_INDEX", "PIP_CERT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
    monkeypatch.setenv("HOME", "/nonexistent")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    return monkeypatch


@pytest.mark.parametrize("style", ["html", "json"])
def test_a_seed_comes_from_the_index_once_and_from_the_lake_after(tmp_path, pip_index, style):
    seed, blobs = load_seeds(from_index(tmp_path))["toy"], BlobStore(tmp_path / "lake")
    with serving(Index("many", FILE, OUTER, style)) as index:
        pip_index.setenv("PIP_INDEX_URL", f"{index.address}/simple")
        first = fetch_seed(seed, blobs, now=NOW)
    assert index.asked == ["/simple/many/", f"/files/{FILE}"]
    assert (first.sha256, first.source, first.fetched_at) == (
        sha(INNER),
        f"{index.address}/files/{FILE}/solvers/toy.tar.gz",
        NOW,
    )
    assert (first.name, first.version, first.licence, first.adapter) == ("toy", "1", "MIT", "toy")
    assert fetch_seed(seed, blobs, now=LATER) == first
    assert not Path("/tmp/evolake-setup-was-run").exists()


def test_a_dead_network_is_told_with_what_to_do(tmp_path, pip_index):
    with serving(Index("many", FILE, OUTER)) as index:
        gone = index.address
    pip_index.setenv("PIP_INDEX_URL", f"{gone}/simple")
    with pytest.raises(MachineryError, match=r"solvers.toml") as raised:
        fetch_seed(load_seeds(from_index(tmp_path))["toy"], BlobStore(tmp_path / "lake"), now=NOW)
    assert "refused" in str(raised.value)


@pytest.mark.parametrize(
    ("outer", "inner"),
    [("0" * 64, sha(INNER)), (sha(OUTER), "0" * 64)],
    ids=["the archive", "the source in it"],
)
def test_other_bytes_than_the_pinned_ones_are_refused_and_not_kept(tmp_path, pip_index, outer, inner):
    blobs = BlobStore(tmp_path / "lake")
    with serving(Index("many", FILE, OUTER)) as index:
        pip_index.setenv("PIP_INDEX_URL", f"{index.address}/simple")
        with pytest.raises(InputError, match="0000000000"):
            fetch_seed(load_seeds(from_index(tmp_path, outer, inner))["toy"], blobs, now=NOW)
    assert not blobs.has(sha(INNER))


def test_an_index_without_the_file_is_named_without_its_password(tmp_path):
    with serving(Index("many", FILE, OUTER)) as index:
        address = index.address.replace("http://", "http://user:secret@") + "/simple"
        with pytest.raises(MachineryError) as raised:
            get_file("many", "other-2.tar.gz", Places((address,)))
    assert "has no other-2.tar.gz" in str(raised.value) and "secret" not in str(raised.value)


def test_a_folder_of_archives_serves_without_an_index(tmp_path):
    (tmp_path / FILE).write_bytes(OUTER)
    assert get_file("many", FILE, Places((), (tmp_path,))) == (OUTER, (tmp_path / FILE).as_uri())


def test_seeds_of_a_user_come_from_a_folder_an_archive_an_address_and_git(tmp_path, pip_index):
    tree = toy_tree(tmp_path / "mine")
    files = {
        f"toy/{path.relative_to(tree).as_posix()}": path.read_bytes()
        for path in tree.rglob("*")
        if path.is_file()
    }
    (tmp_path / "toy.zip").write_bytes(zip_of(files))
    (tmp_path / "adapters").mkdir()
    (tmp_path / "adapters/toy.toml").write_text(ADAPTER)
    pip_index.setenv("PIP_INDEX_URL", "https://one.example/simple")
    places = {"path = 'mine'": "a", "path = 'toy.zip'": "b"}
    if shutil.which("git"):
        git = ["git", "-C", str(tree), "-c", "user.name=x", "-c", "user.email=x@example.org"]
        for arguments in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "one"]):
            subprocess.run([*git, *arguments], check=True)
        commit = subprocess.run(
            [*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True
        ).stdout.strip()
        places[f"git = '{tree.as_uri()}'\ncommit = '{commit}'"] = "c"
    with serving(Index("x", "toy.zip", (tmp_path / "toy.zip").read_bytes())) as index:
        places[f"url = '{index.address}/files/toy.zip'\nsha256 = '{sha(index.data)}'"] = "d"
        result = set()
        for place, name in places.items():
            blobs, seed = BlobStore(tmp_path / f"lake-{name}"), load_seeds(seeds_file(tmp_path, place))["toy"]
            result.add(
                source_sha(
                    lay_out_seed(
                        seed, blobs, tmp_path / f"cache-{name}", adapters=tmp_path / "adapters", now=NOW
                    )
                )
            )
    assert len(result) == 1


def test_an_edited_record_does_not_beat_the_pin(tmp_path, pip_index):
    """Whatever a record of an earlier fetch is made to say, the sources are the pinned ones, and what the
    seed says of itself stands."""
    evil = tar_of({"toy-1/code/main.cc": b"int main() { return 10; }\n"})
    address = tmp_path / "toy.tar"
    address.write_bytes(INNER)
    places = [f'url = "{address.as_uri()}"\nsha256 = "{sha(INNER)}"']
    if shutil.which("git"):
        tree = toy_tree(tmp_path / "repository")
        git = ["git", "-C", str(tree), "-c", "user.name=x", "-c", "user.email=x@example.org"]
        for arguments in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "one"]):
            subprocess.run([*git, *arguments], check=True)
        commit = subprocess.run(
            [*git, "rev-parse", "HEAD"], check=True, capture_output=True, text=True
        ).stdout.strip()
        places.append(f'git = "{tree.as_uri()}"\ncommit = "{commit}"')
    for place in places:
        blobs = BlobStore(tmp_path / f"lake-{place[:3]}")
        seed = load_seeds(seeds_file(tmp_path, place))["toy"]
        first = fetch_seed(seed, blobs, now=NOW)
        assert fetch_seed(seed, blobs, now=LATER) == first
        record = next((tmp_path / f"lake-{place[:3]}/fetched").glob("toy-*.json"))
        own = {"licence": "none", "adapter": "other", "name": "x"}
        for changed in ({"sha256": blobs.put(evil)}, {"sha256": "../../etc/passwd"}, {"sha256": 7}, own):
            record.write_text(json.dumps(json.loads(record.read_text()) | changed))
            again = fetch_seed(seed, blobs, now=LATER)
            assert (again.sha256, again.name, again.licence, again.adapter) == (
                first.sha256,
                first.name,
                first.licence,
                first.adapter,
            )


@pytest.mark.parametrize(
    "data",
    [
        tar_of({"../outside": b"x"}),
        tar_of({"/tmp/outside": b"x"}),
        zip_of({"../outside": b"x"}),
        zip_of({"a\\..\\b": b"x"}),
        tar_of({"a": b"", "a/b": b""}),
        b"no archive",
        INNER[:-30],
        b"PK no zip",
    ],
    ids=["tar-up", "tar-absolute", "zip-up", "zip-backslash", "file-as-folder", "junk", "cut", "bad-zip"],
)
def test_an_archive_that_cannot_be_trusted_leaves_nothing(tmp_path, data):
    with pytest.raises(InputError, match="cannot be unpacked"):
        unpack_archive(data, tmp_path / "box/into")
    assert list((tmp_path / "box").iterdir()) == [] and not (tmp_path / "outside").exists()


def test_links_of_an_archive_are_left_out(tmp_path):
    unpack_archive(tar_of({"top/a": b"x"}, {"top/link": "/etc/passwd", "top/up": "../.."}), tmp_path / "into")
    assert [path.name for path in (tmp_path / "into/top").iterdir()] == ["a"]


@pytest.mark.parametrize(
    ("place", "said"),
    [
        ("", "no one place"),
        ("path = 'a'\nurl = 'b'", "no one place"),
        ("url = 'http://x'", "no sha256"),
        ("git = 'x'\ncommit = 'main'", "a commit that may move"),
        ("archive = 'none'\nmember = 'x'\nsha256 = '" + "0" * 64 + "'", "unknown archive"),
        ("path = 'a'\nsha256 = 'zz'", "no sha256 that can be used"),
        ("path = 'a'\ncolour = 1", "unknown field colour"),
    ],
)
def test_a_wrong_seed_is_told(tmp_path, place, said):
    with pytest.raises(InputError, match=said):
        load_seeds(seeds_file(tmp_path, place))


def test_the_shipped_seeds_are_pinned():
    seeds = load_seeds()
    assert {"minisat22", "glucose421", "maplechrono", "mergesat3", "cadical195"} <= set(seeds)
    assert all(seed.container is not None and len(seed.sha256) == 64 for seed in seeds.values())
    assert seed_named("minisat22").licence == "MIT"


# A user's own solver: a folder with a card and the sources, which takes part without being named, and
# stays what it was when it was taken in.


SHIPPED = Path(__file__).resolve().parents[3] / "data_lake" / "seeds"
CARD = 'adapter = "minisat22"\nlicence = "MIT"\nversion = "2"\n'


def own(folder: Path, card: str = CARD) -> Path:
    (folder / "source").mkdir(parents=True)
    (folder / "source" / "main.cc").write_text("int main() {}\n")
    (folder / "seed.toml").write_text(card)
    return folder


@pytest.fixture
def seeds(tmp_path, monkeypatch) -> Path:
    shutil.copytree(SHIPPED / "solvers" / "adapters", tmp_path / "seeds" / "solvers" / "adapters")
    shutil.copytree(SHIPPED / "solvers" / "patches", tmp_path / "seeds" / "solvers" / "patches")
    shutil.copy(SHIPPED / "solvers.toml", tmp_path / "seeds")
    monkeypatch.setenv("EVOLAKE_SEEDS", str(tmp_path / "seeds"))
    monkeypatch.setenv("EVOLAKE_SOLVERS__SEEDS", '["glucose421"]')
    return tmp_path / "seeds"


def settings() -> Settings:
    return load()


def test_a_folder_takes_part_beside_the_seeds_that_the_settings_name(seeds):
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


def test_it_is_known_by_its_sources_and_comes_back_as_it_was_kept(seeds, tmp_path):
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
def test_a_card_that_cannot_be_used_is_told(tmp_path, card, message):
    with pytest.raises(InputError, match=message):
        own_seed(own(tmp_path / "mine", card))


def test_what_is_given_is_looked_at_before_it_is_copied(seeds, tmp_path):
    assert SEEDS.check(own(tmp_path / "mine")) == "mine"
    with pytest.raises(InputError, match="is no solver of your own"):
        SEEDS.check(tmp_path)
    with pytest.raises(InputError, match="is not what the adapter cadical195 expects"):
        SEEDS.check(own(tmp_path / "other", CARD.replace("minisat22", "cadical195")))
