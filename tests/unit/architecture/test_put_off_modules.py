"""A module that is put off is loaded when something of it is used, and not when somebody looks at the modules
that there are."""

from __future__ import annotations

import importlib
import inspect
import sys
from pathlib import Path

import pytest

from evolake.lazy import Unloaded, put_off

FILES = {
    "put_off_package/__init__.py": "from put_off_package import part\nVALUE = 7\n",
    "put_off_package/part.py": "VALUE = 3\n",
    "put_off_package/light.py": "VALUE = 5\n",
    "put_off_module.py": "VALUE = 1\n",
}


@pytest.fixture
def modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """The modules of FILES, importable; forgotten afterwards."""
    for name, text in FILES.items():
        place = tmp_path / name
        place.parent.mkdir(exist_ok=True)
        place.write_text(text)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield
    for name in [name for name in sys.modules if name.startswith("put_off_")]:
        del sys.modules[name]


def test_a_module_is_loaded_when_something_of_it_is_used_and_not_when_it_is_looked_for(modules):
    put_off("put_off_module")
    module = importlib.import_module("put_off_module")
    assert (inspect.getmodule(inspect.currentframe()), hasattr(module, "__wrapped__")) == (
        sys.modules[__name__],
        False,
    )
    assert (type(module), "VALUE" in vars(module)) == (Unloaded, False)
    assert (module.VALUE, type(module) is Unloaded) == (1, False)
    with pytest.raises(AttributeError):
        _ = module.MISSING


def test_a_part_of_a_package_loads_the_package_first_unless_it_is_light(modules):
    put_off("put_off_package", light=("light",), known={"asked": "known"})
    package = importlib.import_module("put_off_package")
    assert (importlib.import_module("put_off_package.light").VALUE, package.light.VALUE, package.asked) == (
        5,
        5,
        "known",
    )
    assert "put_off_package.part" not in sys.modules
    assert (package.VALUE, package.part.VALUE) == (7, 3)
    with pytest.raises(AttributeError):
        _ = package.asked


def test_without_light_parts_every_part_loads_the_package(modules):
    put_off("put_off_package")
    assert importlib.import_module("put_off_package.light").VALUE == 5
    assert vars(sys.modules["put_off_package"])["VALUE"] == 7


def test_what_is_loaded_or_not_installed_stays_as_it_is(modules):
    module = importlib.import_module("put_off_module")
    put_off("put_off_module")
    put_off("put_off_missing")
    assert sys.modules["put_off_module"] is module
    assert "put_off_missing" not in sys.modules
