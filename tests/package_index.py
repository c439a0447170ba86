"""A package index on the loopback device that serves one project with one file, and counts what is asked of
it."""

import contextlib
import io
import json
import tarfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler

from local_server import listening


@dataclass
class Index:
    """project, file, data: what it serves. style: of its page, "html" or "json". asked: paths, in order."""

    project: str
    file: str
    data: bytes
    style: str = "html"
    address: str = ""
    asked: list[str] = field(default_factory=list)


@contextlib.contextmanager
def serving(index: Index) -> Iterator[Index]:
    """The index at `address` + "/simple" while the block runs."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            index.asked.append(self.path)
            page = f"/simple/{index.project}/"
            if self.path == page and index.style == "json":
                listing = {"files": [{"filename": index.file, "url": f"../../files/{index.file}"}]}
                self.reply(json.dumps(listing).encode(), "application/vnd.pypi.simple.v1+json")
            elif self.path == page:
                links = (
                    '<a href="other.whl">other.whl</a><a '
                    f'href="../../files/{index.file}#sha256=0">{index.file}</a>'
                )
                self.reply(links.encode(), "text/html")
            elif self.path == f"/files/{index.file}":
                self.reply(index.data, "application/octet-stream")
            else:
                self.send_error(404)

        def reply(self, data: bytes, kind: str) -> None:
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None:
            pass

    with listening(Handler) as index.address:
        yield index


def tar_of(files: dict[str, bytes], links: dict[str, str] | None = None) -> bytes:
    """A tar.gz of files, and of symbolic links."""
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for name, data in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
        for name, target in (links or {}).items():
            info = tarfile.TarInfo(name)
            info.type, info.linkname = tarfile.SYMTYPE, target
            archive.addfile(info)
    return buffer.getvalue()


def zip_of(files: dict[str, bytes]) -> bytes:
    """A zip of files."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return buffer.getvalue()
