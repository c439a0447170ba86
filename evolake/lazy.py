"""Name an object of a module that is imported only when the object is needed."""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Generic, TypeVar, cast

T_co = TypeVar("T_co", covariant=True)
FORM = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*")


@dataclass(frozen=True)
class Lazy(Generic[T_co]):
    """An object by its name, "package.module:object". A test resolves every one in the project (tests/unit/architecture/test_lazy_names.py)."""

    name: str

    def __post_init__(self) -> None:
        if not FORM.fullmatch(self.name):
            raise ValueError(f"an object is named as 'package.module:object' (got {self.name!r})")

    @property
    def module(self) -> str:
        """Return the name of its module."""
        return self.name.partition(":")[0]

    def load(self) -> T_co:
        """Import its module and return the object. Raises ImportError or AttributeError if there is none of that name."""
        return cast("Any", getattr(import_module(self.module), self.name.partition(":")[2]))
