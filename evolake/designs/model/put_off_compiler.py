"""Keep torch's compiler out of processes that trace or run designs and compile nothing by torch.

`make_fx` reads one setting of `torch._inductor`, and operators on meta tensors ask `torch._dynamo` not to compile them. Either loads the whole
compiler, which took 0.7 processor seconds in each such process. So two empty packages stand where it would be loaded, until something asks for
more of it than that; then the package is loaded as ever.

Only for processes of ours that do this and nothing else (a jail, the server of the engines), never for a process of the user's.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from types import ModuleType
from typing import Any


class _Unloaded(ModuleType):
    """A package whose `__init__` has not been run. Its own parts (`light`) are imported without it; any other name runs it."""

    def __init__(self, name: str, light: tuple[str, ...], known: dict[str, Any]) -> None:
        super().__init__(name)
        spec = importlib.util.find_spec(name)
        assert spec is not None and spec.loader is not None and spec.submodule_search_locations is not None, f"torch has no package {name}"
        self.__spec__, self.__loader__, self.__file__, self.__package__ = spec, spec.loader, spec.origin, name
        self.__path__ = list(spec.submodule_search_locations)
        self.__dict__["_light"], self.__dict__["_known"] = light, known

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        if name in self._light:
            return importlib.import_module(f"{self.__name__}.{name}")
        if name in self._known:
            return self._known[name]
        object.__setattr__(self, "__class__", ModuleType)
        self.__loader__.exec_module(self)  # pyright: ignore[reportOptionalMemberAccess, reportAttributeAccessIssue]
        return getattr(self, name)


def put_off_compiler() -> None:
    """Put off torch's compiler in this process, which compiles nothing by it. Nothing changes if it has been loaded."""
    import torch._logging._internal

    if "torch._dynamo" in sys.modules or "torch._inductor" in sys.modules:
        return
    # read at every node of a trace as an attribute, which the compiler's packages set by importing it
    importlib.import_module("torch._higher_order_ops.triton_kernel_wrap")
    for package, light, known in (("_inductor", ("config",), {}), ("_dynamo", (), {"disable": _as_it_is})):
        module = sys.modules[f"torch.{package}"] = _Unloaded(f"torch.{package}", light, known)
        setattr(torch, package, module)
    # a failed trace would be logged in full, for which the compiler is loaded; nobody reads that log
    torch._logging._internal.trace_log.handlers.clear()


def _as_it_is(function: Any = None, recursive: bool = True, *, reason: str | None = None, wrapping: bool = True) -> Any:
    """Return a function that is not to be compiled, in a process that compiles none."""
    return _as_it_is if function is None else function
