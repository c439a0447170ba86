"""The generator of pictures."""

__constants__ = __words__ = None
# --- program ---
import random

WORDS = __words__
__constants__


def input(difficulty):
    size = 3 + difficulty // 4
    letters = "ABCDEFGHIJKLMNOPRSTUVWXY"[: size * size - size]
    rows = ["".join(random.choice(letters) for _ in range(size)) for _ in range(size)]
    commands = [random.choice(("turn", "flip", "push")) for _ in range(2 + difficulty)]
    commands.insert(random.randrange(len(commands)), "push")
    commands.append(random.choice(("turn", "flip")))
    lines = [f"- Row {number}: {', '.join(row)}." for number, row in enumerate(rows, start=1)]
    return {"rows": rows, "commands": commands}, ["\n".join(lines), ", ".join(commands)]
