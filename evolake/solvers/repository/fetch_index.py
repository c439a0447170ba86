"""Where pip would look for a file, and how to get it from there without pip, which would run the setup.py
of a source distribution.

pip's own configuration is read (indexes, folders of archives, certificates), so that evolake fetches from
wherever the user's installs come from. One project's page is asked for, and one file, by its name; what comes
is believed only for its hash.
"""

from __future__ import annotations

import ast
import base64
import json
import re
import ssl
import subprocess
import sys
import urllib.error
import urllib.parse
import urllib.request
from dataclasses import dataclass
from html.parser import HTMLParser
from pathlib import Path

from evolake.errors import InputError, MachineryError

TIMEOUT_S = 60.0
LARGEST = 512 << 20
_PAGES = "application/vnd.pypi.simple.v1+json, text/html;q=0.5"
_DEFAULT = "from pip._internal.models.index import PyPI; print(PyPI.simple_url)"
DO = (
    "connect to the package index that pip uses, or name a copy of the file: `path` of the archive in "
    "data_lake/seeds/solvers.toml"
)


@dataclass(frozen=True)
class Places:
    """indexes: addresses of simple pages. folders: local folders of archives. certificates: file of trusted
    ones, None for the system's."""

    indexes: tuple[str, ...]
    folders: tuple[Path, ...] = ()
    certificates: str | None = None


def pip_places() -> Places:
    """Return where pip is configured to look (files, PIP_* variables, its own default).

    Raises:
        MachineryError: pip cannot be asked.
    """
    values: dict[str, str] = {}
    for line in _pip("-m", "pip", "config", "list").splitlines():
        key, _, value = line.partition("=")
        if match := re.fullmatch(r"(:env:|\w+)\.([\w-]+)", key):
            where, name = match.groups()
            if where in (":env:", "global", "download", "install") and (
                name not in values or where == ":env:"
            ):
                values[name] = str(ast.literal_eval(value))
    folders, indexes = [], []
    for place in values.get("find-links", "").split():
        folders.append(
            Path(urllib.request.url2pathname(urllib.parse.urlparse(place).path))
            if place.startswith("file:")
            else Path(place)
        )
    if values.get("no-index", "0").lower() not in ("1", "true", "yes", "on"):
        indexes = [
            values.get("index-url") or _pip("-c", _DEFAULT).strip(),
            *values.get("extra-index-url", "").split(),
        ]
    return Places(tuple(indexes), tuple(folders), values.get("cert"))


def _pip(*arguments: str) -> str:
    try:
        return subprocess.run(
            [sys.executable, *arguments], capture_output=True, text=True, timeout=TIMEOUT_S, check=True
        ).stdout
    except (OSError, subprocess.SubprocessError) as error:
        said = (getattr(error, "stderr", "") or str(error)).strip().splitlines()
        raise MachineryError(
            "pip cannot be asked where it looks for packages", got=said[-1] if said else None, do=DO
        ) from None


def get_file(project: str, name: str, places: Places) -> tuple[bytes, str]:
    """Return the bytes of the file `name` of `project`, and where it came from (without a password).

    Raises:
        MachineryError: no place has it, or none can be reached; what each said is shown.
    """
    said = []
    for folder in places.folders:
        if (folder / name).is_file():
            return (folder / name).read_bytes(), (folder / name).as_uri()
    for index in places.indexes:
        page = f"{index.rstrip('/')}/{re.sub(r'[-_.]+', '-', project).lower()}/"
        try:
            link = _link(page, name, places)
            if link is None:
                said.append(f"{_bare(page)}: has no {name}")
                continue
            data, _, _ = _read(link, places, credentials_of=page)
            return data, _bare(link)
        except (OSError, ValueError) as error:
            said.append(f"{_bare(page)}: {getattr(error, 'reason', error)}")
    raise MachineryError(
        f"{name} cannot be fetched",
        wanted=f"the project {project} on a package index",
        got="; ".join(said) or "no index",
        do=DO,
    )


def get_address(address: str, places: Places) -> bytes:
    """Return the bytes at an http(s) or file address. Raises MachineryError where they cannot be had."""
    try:
        return _read(address, places)[0]
    except (OSError, ValueError) as error:
        said = str(getattr(error, "reason", error))
        raise MachineryError(
            f"{_bare(address)} cannot be fetched", got=said, do="check the address and the network"
        ) from None


def _link(page: str, name: str, places: Places) -> str | None:
    if page.startswith("file:"):
        page += "index.html"
    data, kind, address = _read(page, places)
    if "json" in kind:
        result = {file["filename"]: file["url"] for file in json.loads(data)["files"]}.get(name)
    else:
        reader = _Links()
        reader.feed(data.decode("utf-8", "replace"))
        result = next(
            (
                link
                for link in reader.links
                if urllib.parse.unquote(urllib.parse.urlparse(link).path).rsplit("/", 1)[-1] == name
            ),
            None,
        )
    return urllib.parse.urldefrag(urllib.parse.urljoin(address, result)).url if result else None


class _Links(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag == "a":
            self.links += [value for name, value in attrs if name == "href" and value]


def _read(address: str, places: Places, credentials_of: str | None = None) -> tuple[bytes, str, str]:
    """(bytes, content type, final address). Raises OSError or ValueError."""
    parts = urllib.parse.urlparse(address)
    if parts.scheme not in ("http", "https", "file"):
        raise InputError(f"{_bare(address)} cannot be fetched", wanted="an http, https or file address")
    request = urllib.request.Request(_bare(address), headers={"Accept": _PAGES, "User-Agent": "evolake"})
    owner = urllib.parse.urlparse(credentials_of or address)
    if owner.username and owner.hostname == parts.hostname:
        pair = f"{urllib.parse.unquote(owner.username)}:{urllib.parse.unquote(owner.password or '')}"
        request.add_header("Authorization", "Basic " + base64.b64encode(pair.encode()).decode())
    context = ssl.create_default_context(cafile=places.certificates) if parts.scheme == "https" else None
    with urllib.request.urlopen(request, timeout=TIMEOUT_S, context=context) as response:
        data = response.read(LARGEST + 1)
        if len(data) > LARGEST:
            raise ValueError(f"more than {LARGEST} bytes")
        return data, response.headers.get("Content-Type", ""), response.url


def _bare(address: str) -> str:
    """Return the address without user and password."""
    parts = urllib.parse.urlparse(address)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()
