"""What `evolake doctor` says about where heavy work is done: each worker of a cluster with its versions,
cores, jail and view of the lake."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from evolake.errors import EvolakeError
from evolake.settings import Settings


def compute_checks(settings: Settings) -> Iterator[dict[str, Any]]:
    """Yield the fields of a `Check` for the setting `compute`, and for each worker of a scheduler that it
    names."""
    from evolake.compute.opening import address_of, are_ours, is_local, require_dask

    name, where = "compute", f"{settings.workers} processes of this machine"
    if are_ours(settings):
        try:
            if not is_local(settings):
                require_dask()
        except EvolakeError as error:
            yield {"name": name, "ok": False, "detail": error.what, "mend": error.do or "", "needed": True}
            return
        yield {"name": name, "ok": True, "detail": f"{settings.compute}: {where}"}
        return
    try:
        result = list(_workers(settings))
    except EvolakeError as error:
        yield {"name": name, "ok": False, "detail": str(error), "mend": error.do or "", "needed": True}
        return
    usable = sum(worker["ok"] for worker in result)
    detail = f"{address_of(settings.compute)}: {usable} of {len(result)} workers can take all work"
    yield {"name": name, "ok": usable > 0, "detail": detail, "mend": "see the workers", "needed": True}
    yield from result


def _workers(settings: Settings) -> Iterator[dict[str, Any]]:
    from evolake.compute.opening import address_of, demand_of, require_dask

    require_dask()
    from evolake.compute.cluster import ask, connect

    with connect(address_of(settings.compute)) as client:
        proofs = ask(client, demand_of(settings))
    for address, proof in proofs.items():
        versions = ", ".join(f"{name} {value[:12]}" for name, value in proof.identity.items())
        jail = (
            f"no jail ({proof.no_jail})" if proof.no_jail else f"jail: {len(proof.attempts)} attempts refused"
        )
        summary = "; ".join(proof.problems) or f"the lake is seen; {jail}"
        if proof.problems:
            skips = "all work"
        elif proof.no_jail:
            skips = "generated code"
        else:
            skips = ""
        yield {
            "name": f"worker {address}",
            "ok": not proof.problems and not proof.no_jail,
            "detail": f"{proof.host}, {versions}, {proof.threads} threads, {proof.cores} cores; {summary}",
            "skips": skips,
            "mend": (
                "start it from this installation, over this folder, on a host where `evolake doctor` "
                "finds a jail"
            ),
        }
