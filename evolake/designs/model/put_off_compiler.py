"""Keep torch's compiler out of processes that trace or run designs and compile nothing by torch.

`make_fx` reads one setting of `torch._inductor`, and operators on meta tensors ask `torch._dynamo` not to
compile them. Either loads the whole compiler, which took 0.7 processor seconds in each such process. Here it
is loaded when something asks for more of it than that.

Only for processes of ours that do this and nothing else (a jail, the server of the engines), never for a
process of the user's.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import Any

from evolake.lazy import put_off


def put_off_compiler() -> None:
    """Put off torch's compiler in this process, which compiles nothing by it. Nothing changes if it has been
    loaded."""
    import torch._logging._internal

    if "torch._dynamo" in sys.modules or "torch._inductor" in sys.modules:
        return
    # read at every node of a trace as an attribute, which the compiler sets by importing it
    import_module("torch._higher_order_ops.triton_kernel_wrap")
    put_off("torch._inductor", light=("config",))
    put_off("torch._dynamo", known={"disable": _as_it_is})
    # a failed trace would be logged in full, for which the compiler is loaded; nothing reads that log
    torch._logging._internal.trace_log.handlers.clear()


def _as_it_is(
    function: Any = None, recursive: bool = True, *, reason: str | None = None, wrapping: bool = True
) -> Any:
    """Return a function that is not to be compiled, in a process that compiles none."""
    return _as_it_is if function is None else function
