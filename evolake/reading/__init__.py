"""Bounded readers for everything that comes from outside: files, compressed data, archives, JSON, TOML and
numbers.

Each reader takes its limit before it builds anything, and raises an error that names what the user named. A
file is read only if it is a regular file, because a pipe waits and a device never ends. Compressed data is
decompressed in steps, so that a bomb stops at its limit and not at the machine's.

    files.py        read_bytes, read_text, require_regular
    compressed.py   decompress, decompressed
    archives.py     tar_entries, zip_entries, tar_comment
    json_text.py    parse_json, unique_keys
    formula.py      read_cnf_file, write_dimacs, falsified_clauses
    toml_text.py    parse_toml
    yaml_text.py    parse_yaml
    numbers.py      whole_number
"""

from evolake.reading.compressed import Bomb, Damaged, decompress, decompressed, kind_of
from evolake.reading.files import (
    DATA_BYTES,
    TEXT_BYTES,
    Unparsable,
    Unreadable,
    read_bytes,
    read_text,
    reason,
    require_regular,
)
from evolake.reading.json_text import parse_json, unique_keys, whole_number
from evolake.reading.toml_text import parse_toml, parse_yaml

__all__ = [
    "DATA_BYTES",
    "TEXT_BYTES",
    "Bomb",
    "Damaged",
    "Unparsable",
    "Unreadable",
    "decompress",
    "decompressed",
    "kind_of",
    "parse_json",
    "parse_toml",
    "parse_yaml",
    "read_bytes",
    "read_text",
    "reason",
    "require_regular",
    "unique_keys",
    "whole_number",
]
