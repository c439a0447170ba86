"""Name an object of a module that is imported only when the object is needed, and put off modules that other
libraries import without need."""

from __future__ import annotations

import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from types import MappingProxyType, ModuleType
from typing import Any, Generic, TypeVar, cast

T_co = TypeVar("T_co", covariant=True)
FORM = re.compile(r"[^\W\d]\w*(\.[^\W\d]\w*)*:[^\W\d]\w*")


@dataclass(frozen=True)
class Lazy(Generic[T_co]):
    """An object by its name, "package.module:object". A test resolves every one in the project
    (tests/unit/architecture/test_lazy_names.py)."""

    name: str

    def __post_init__(self) -> None:
        if not FORM.fullmatch(self.name):
            raise ValueError(f"an object is named as 'package.module:object' (got {self.name!r})")

    @property
    def module(self) -> str:
        """Return the name of its module."""
        return self.name.partition(":")[0]

    def load(self) -> T_co:
        """Import its module and return the object. Raises ImportError or AttributeError if there is none of
        that name."""
        return cast("Any", getattr(import_module(self.module), self.name.partition(":")[2]))


class Unloaded(ModuleType):
    """A module that runs when something of it is first used.

    `importlib.util.LazyLoader` runs a module at the first look at any attribute, and `inspect.getmodule`
    looks at the file of all modules there are. This one knows its file.
    """

    _light: frozenset[str]
    _known: Mapping[str, Any]

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") and name != "__path__":
            raise AttributeError(f"module {self.__name__!r} has no attribute {name!r}")
        if name in self._light:
            return import_module(f"{self.__name__}.{name}")
        if name in self._known:
            return self._known[name]
        object.__setattr__(self, "__class__", ModuleType)
        spec = self.__spec__
        assert spec is not None and spec.loader is not None
        if spec.submodule_search_locations is not None:
            self.__path__ = list(spec.submodule_search_locations)
        spec.loader.exec_module(self)
        return getattr(self, name)


def put_off(name: str, light: Sequence[str] = (), known: Mapping[str, Any] = MappingProxyType({})) -> None:
    """Have a module loaded when something of it is first used, if at all. Nothing changes if it is loaded or
    not installed.

    Args:
        name: the module; the package that it is in is imported.
        light: parts of a package that are imported without it. Without them, the import of any part loads it
            first.
        known: what it gives without being loaded.
    """
    parent, _, own = name.rpartition(".")
    spec = None if name in sys.modules else find_spec(name)
    if spec is None or spec.loader is None:
        return
    module = Unloaded(name, None)
    module.__dict__.update(
        _light=frozenset(light), _known=known, __spec__=spec, __loader__=spec.loader, __file__=spec.origin
    )
    module.__package__ = name if spec.submodule_search_locations is not None else parent
    if light and spec.submodule_search_locations is not None:
        module.__path__ = list(spec.submodule_search_locations)
    sys.modules[name] = module
    if parent:
        setattr(sys.modules[parent], own, module)
