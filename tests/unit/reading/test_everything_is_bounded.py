"""Nothing outside of the bounded readers decompresses, so that no bomb finds a way past their limits."""

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
PACKAGES = ("evolake", "assets", "resources", "pipelines")
READING = "evolake/reading/"
UNPACKING = re.compile(
    r"ZstdDecompressor|zstandard\.decompress|\bgzip\.(open|decompress|GzipFile)|\bbz2\.(open|decompress|"
    r"BZ2)|\blzma\.(open|decompress|LZMA[FD])|zlib\.decompress|tarfile\.(open|TarFile)\((?!.*mode=\"w\")|"
    r"zipfile\.ZipFile|shutil\.unpack_archive"
)
BOUNDED_ALREADY = (
    "evolake/lake/audit.py",
    "evolake/families/model/wording.py",
    "evolake/families/evolution/requests.py",
)
"""Reads bytes, of which `isdigit` is ASCII; words of at most 15 ASCII digits; cycles, which the lake
names."""


def sources() -> dict[str, str]:
    """Path below the repository -> text, of everything that is shipped."""
    files = (path for package in PACKAGES for path in (ROOT / package).rglob("*.py"))
    return {path.relative_to(ROOT).as_posix(): path.read_text(encoding="utf-8") for path in files}


def test_only_the_bounded_readers_decompress():
    found = [
        f"{name}: {match[0]}"
        for name, text in sources().items()
        if not name.startswith(READING)
        for match in UNPACKING.finditer(text)
    ]
    assert found == []


@pytest.mark.parametrize(
    "text",
    [
        "zstandard.ZstdDecompressor()",
        "gzip.decompress(data)",
        "with tarfile.open(path) as archive:",
        "lzma.LZMADecompressor()",
        "bz2.BZ2File(path)",
        "zlib.decompressobj(31)",
        "zipfile.ZipFile(path)",
    ],
)
def test_the_search_finds_each_way_to_decompress(text):
    assert UNPACKING.search(text)
    assert not UNPACKING.search('tarfile.open(fileobj=buffer, mode="w")')


def test_toml_and_yaml_are_parsed_by_the_bounded_readers():
    """Profiles, tables and other data of evolake are files of ours, and no command names one."""
    own = (
        READING,
        "evolake/settings.py",
        "evolake/designs/work/relative.py",
        "evolake/agents/attempts.py",
        "evolake/families/text_solver/language.py",
        "evolake/lake/schemas.py",
        "evolake/lake/vocabulary.py",
        "evolake/programs/audit/attacks.py",
        "evolake/programs/problems/",
        "evolake/solvers/edits/catalogue.py",
    )
    found = [
        f"{name}: {match[0]}"
        for name, text in sources().items()
        if not name.startswith(own)
        for match in re.finditer(r"\btomllib\.loads?\(|\byaml\.(safe_)?load\(", text)
    ]
    assert found == []


def test_no_digit_of_another_script_is_taken_for_a_number():
    """`isdigit` is true for superscripts, which `int` refuses."""
    found = [
        f"{name}: {line.strip()}"
        for name, text in sources().items()
        for line in text.splitlines()
        if re.search(r"\.is(digit|numeric)\(\)", line)
        and re.search(r"\bint\(", line)
        and not name.startswith("evolake/jail/inside/")
    ]
    assert [line for line in found if not line.startswith(BOUNDED_ALREADY)] == []
