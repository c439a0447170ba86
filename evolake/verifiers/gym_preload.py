"""Import this first in a jail that is to run reasoning-gym, and nowhere else.

A library of its (cellpylib) imports matplotlib for pictures that are not drawn here; matplotlib wants a
folder that it can write to, and the jail has none. Empty modules replace it.
"""

from __future__ import annotations

import sys
from types import ModuleType

for _name in (
    "matplotlib",
    "matplotlib.pyplot",
    "matplotlib.animation",
    "matplotlib.collections",
    "mpl_toolkits",
    "mpl_toolkits.mplot3d",
):
    sys.modules.setdefault(_name, ModuleType(_name))
sys.modules["mpl_toolkits.mplot3d"].Axes3D = object  # pyright: ignore[reportAttributeAccessIssue]

import reasoning_gym  # noqa: E402, F401
