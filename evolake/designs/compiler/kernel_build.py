"""From LLVM text to a function that can be called, once for each distinct structure.

Kernels are kept in the process and, as object code, in a folder of the user's cache: `EVOLAKE_KERNEL_CACHE`,
else `$XDG_CACHE_HOME/evolake/kernels`, else `~/.cache/evolake/kernels`. A file's name is the hash of the LLVM
text, the processor, its features and the version of LLVM; its first line is the hash of the rest, so that a
torn or foreign file is compiled again, never run. Nothing that a design wrote reaches the text but the
structure of its graph: names and strings of the file do not.
"""

from __future__ import annotations

import ctypes
import hashlib
import os
import tempfile
import threading
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from evolake.designs.compiler.kernel_emit import ENTRY

_POINTER, _INT = ctypes.c_void_p, ctypes.c_int64
_ARGUMENTS = (
    _INT,
    _INT,
    _INT,
    _INT,
    _INT,
    _INT,
    _POINTER,
    _POINTER,
    _POINTER,
    _POINTER,
    _INT,
    _POINTER,
    _POINTER,
)
_LOCK = threading.RLock()
_MACHINE: dict[str, Any] = {}
_KERNELS: dict[str, Kernel] = {}


@dataclass(frozen=True)
class Kernel:
    """A compiled kernel; `engine` keeps its code alive."""

    call: Any = field(repr=False)
    engine: Any = field(repr=False)
    key: str


def cache_folder() -> Path:
    """Return where object code is kept."""
    if folder := os.environ.get("EVOLAKE_KERNEL_CACHE"):
        return Path(folder)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "evolake" / "kernels"


def kernel(text: str, *, quick: bool = False) -> Kernel:
    """Return the compiled function of a module's text; compiles at most once a process, and seldom more than
    once a machine.

    quick: compiled in less time to slower code, unless the better code is there. The numbers are the same:
    no operation is reordered either way.
    """
    with _LOCK:
        machine = _machine()
        key = hashlib.sha256("\n".join([text, machine["name"]]).encode()).hexdigest()
        if quick and key not in _KERNELS:
            machine = machine | {"options": machine["options"] | {"opt": 0}}
            key = f"{key}-quick"
        if key not in _KERNELS:
            _KERNELS[key] = _loaded(text, key, machine)
        return _KERNELS[key]


def _machine() -> dict[str, Any]:
    """Return the compiler's target: this processor with all it has."""
    if not _MACHINE:
        import llvmlite
        import llvmlite.binding as llvm

        llvm.initialize_native_target()
        llvm.initialize_native_asmprinter()
        features, cpu = llvm.get_host_cpu_features().flatten(), llvm.get_host_cpu_name()
        target = llvm.Target.from_default_triple()
        _MACHINE["name"] = f"{llvmlite.__version__} {llvm.llvm_version_info} {target.triple} {cpu} {features}"
        _MACHINE["target"] = target
        _MACHINE["options"] = {"cpu": cpu, "features": features, "opt": 2, "jit": True}
    return _MACHINE


def gathers_slowly() -> bool:
    """Return whether this processor loads sixteen numbers faster one by one than by its gather instruction,
    as those of AMD do.

    On a Zen 4 a step of the baseline takes three quarters of the time so.
    """
    return "znver" in _machine()["options"]["cpu"]


def _loaded(text: str, key: str, machine: dict[str, Any]) -> Kernel:
    import llvmlite.binding as llvm

    path = cache_folder() / f"{key}.o"
    code = _read(path)
    if code is None:
        code = compiled(text, machine)
        _write(path, code)
    engine = llvm.create_mcjit_compiler(
        llvm.parse_assembly(""), machine["target"].create_target_machine(**machine["options"])
    )
    engine.add_object_file(llvm.ObjectFileRef.from_data(code))
    engine.finalize_object()
    arguments = (*_ARGUMENTS, _POINTER) if "ptr %guards) nounwind" in text else _ARGUMENTS
    call = ctypes.CFUNCTYPE(None, *arguments)(engine.get_function_address(ENTRY))
    return Kernel(call, engine, key)


def compiled(text: str, machine: dict[str, Any] | None = None) -> bytes:
    """Return object code of a module's text for this machine."""
    import llvmlite.binding as llvm

    machine = machine or _machine()
    target = machine["target"].create_target_machine(**machine["options"])
    module = llvm.parse_assembly(text)
    module.verify()
    options = llvm.create_pipeline_tuning_options(speed_level=machine["options"]["opt"])
    options.loop_vectorization = options.slp_vectorization = options.loop_unrolling = False
    builder = llvm.create_pass_builder(target, options)
    builder.getModulePassManager().run(module, builder)
    return target.emit_object(module)


def _read(path: Path) -> bytes | None:
    try:
        head, _, code = path.read_bytes().partition(b"\n")
    except OSError:
        return None
    return code if head == hashlib.sha256(code).hexdigest().encode() else None


def _write(path: Path, code: bytes) -> None:
    """Whole or not at all; a cache that cannot be written is no error."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        with tempfile.NamedTemporaryFile(dir=path.parent, delete=False) as file:
            file.write(hashlib.sha256(code).hexdigest().encode() + b"\n" + code)
        Path(file.name).replace(path)
    except OSError:
        return
