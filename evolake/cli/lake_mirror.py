"""`evolake lake push` and `pull`: a verified mirror of the lake in an object store."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from evolake import settings as settings_module
from evolake.commands import OrdinaryPath
from evolake.terminal import say, say_json


@click.command(short_help="Mirror the lake to a bucket or a folder.")
@click.argument("url")
@click.option(
    "--lake",
    "root",
    type=OrdinaryPath(file_okay=False, exists=True),
    help="The lake's folder (default: EVOLAKE_LAKE).",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
def push(url: str, root: Path | None, as_json: bool) -> None:
    """Mirror the lake to URL: s3://BUCKET/PREFIX (credentials, region and endpoint from the AWS_* variables)
    or file:///FOLDER.

    Only what the mirror lacks is sent; a push that was interrupted continues. The private key of the lake
    goes with it. Needs `evolake[s3]`.
    """
    from evolake.lake import Lake
    from evolake.lake.mirror import push as send

    done = send(Lake(root or settings_module.load().require_lake()), url)
    if as_json:
        say_json({"verdict": "pushed", "url": url, **asdict(done)})
    else:
        say(
            f"snapshot {done.number} of {url}: {done.files} files, of which {done.sent} contents "
            f"({done.sent_bytes} bytes) were sent now"
        )


@click.command(short_help="Replace the lake by the newest snapshot of a mirror.")
@click.argument("url")
@click.option(
    "--lake",
    "root",
    type=OrdinaryPath(file_okay=False),
    help="The lake's folder, also a new one (default: EVOLAKE_LAKE).",
)
@click.option("--json", "as_json", is_flag=True, help="One JSON object on standard output.")
def pull(url: str, root: Path | None, as_json: bool) -> None:
    """Make the lake what the newest snapshot of the mirror at URL says; every byte is verified.

    Nothing that was made here since the last push or pull is overwritten: it is refused. Until a pull is
    complete the lake cannot be opened; run it again.
    """
    from evolake.lake.mirror import pull as fetch

    folder = root or settings_module.load().require_lake()
    done = fetch(folder.absolute(), url)
    if as_json:
        say_json({"verdict": "pulled", "url": url, "lake": str(folder), **asdict(done)})
    else:
        text = (
            f"{done.fetched} of {done.files} files ({done.fetched_bytes} bytes) were fetched, "
            f"{done.removed} removed"
        )
        say(f"{folder} is snapshot {done.number} of {url}: {text}")
