"""Two hosts on one machine: network namespaces with one cable between them, over the same folders."""

import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

import pytest


@dataclass(frozen=True)
class Host:
    """A network namespace and its address on the cable."""

    name: str
    address: str

    @property
    def before(self) -> list[str]:
        """What a command begins with that runs there."""
        return ["ip", "netns", "exec", self.name]


@contextmanager
def two_hosts() -> Iterator[tuple[Host, Host]]:
    """Both, and gone afterwards. Where this user may make none the test is skipped; under
    EVOLAKE_REQUIRE_ALL=1 it fails."""
    hosts = tuple(Host(f"evolake-{os.getpid()}-{number}", f"10.213.7.{number}") for number in (1, 2))
    first, second = hosts
    try:
        try:
            for host in hosts:
                _ip("netns", "add", host.name)
                _ip("-n", host.name, "link", "set", "lo", "up")
            _ip(
                "-n",
                first.name,
                "link",
                "add",
                "cable",
                "type",
                "veth",
                "peer",
                "name",
                "cable",
                "netns",
                second.name,
            )
            for host in hosts:
                _ip("-n", host.name, "address", "add", f"{host.address}/24", "dev", "cable")
                _ip("-n", host.name, "link", "set", "cable", "up")
        except (OSError, subprocess.CalledProcessError) as error:
            _missing(f"network namespaces cannot be made here ({getattr(error, 'stderr', '') or error})")
        yield first, second
    finally:
        if shutil.which("ip"):
            for host in hosts:
                subprocess.run(["ip", "netns", "delete", host.name], capture_output=True)


def _ip(*words: str) -> None:
    command: Sequence[str] = ["ip", *words]
    subprocess.run(command, check=True, capture_output=True, text=True)


def _missing(message: str) -> None:
    if os.environ.get("EVOLAKE_REQUIRE_ALL") == "1":
        pytest.fail(message)
    pytest.skip(message)
