"""Small replacements that let common calls be traced on one instance, and what a trace leaves out.

`one_hot` reads its largest value to check it (data-dependent, so a trace would refuse it); with the number of
classes given it is a comparison with
0..classes-1. Imported inside the jail only: it needs torch at import time.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch.fx.experimental import proxy_tensor
from torch.overrides import TorchFunctionMode


class TracingShims(TorchFunctionMode):
    """While active, calls that have a pure equivalent go to that."""

    def __torch_function__(
        self, func: Any, types: Any, args: Any = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        if func is torch.nn.functional.one_hot:
            classes = args[1] if len(args) > 1 else kwargs.get("num_classes", -1)
            if classes > 0:
                return (args[0].unsqueeze(-1) == torch.arange(classes)).to(torch.int64)
        return func(*args, **kwargs)


@contextmanager
def without_annotations() -> Iterator[None]:
    """Keep traces from annotating their nodes with a fake copy of each value, for which torch makes a
    separate `FakeTensorMode` per node.

    Two thirds of a trace's processor time went there, and nothing here reads it. If torch has no such
    annotation, nothing is left out.
    """
    annotate = getattr(proxy_tensor, "extract_val", None)
    if annotate is None:
        yield
        return

    def plain(value: Any, *args: Any, **kwargs: Any) -> Any:
        return None if type(value) is torch.Tensor else annotate(value, *args, **kwargs)

    proxy_tensor.extract_val = plain
    try:
        yield
    finally:
        proxy_tensor.extract_val = annotate
