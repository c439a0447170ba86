"""The generator of rewriting."""

WHICH = WHERE = ""
__constants__ = __words__ = None
# --- program ---
import random

WORDS = __words__
__constants__


def input(difficulty):
    letters, steps = "abcd" if difficulty < 5 else "abcde", 2 + difficulty
    while True:
        word = "".join(random.choice(letters) for _ in range(7 + difficulty // 2))
        rules = []
        for _ in range(3 + difficulty // 4):
            old = "".join(random.choice(letters) for _ in range(2))
            new = "".join(random.choice(letters) for _ in range(random.choice((1, 2, 2, 3))))
            rules.append([old, new])
        now, idle = word, 0
        for _ in range(steps):
            fitting = [number for number, (old, new) in enumerate(rules) if old in now]
            if not fitting:
                idle += 1
                continue
            old, new = rules[fitting[0 if WHICH == "lowest" else -1]]
            at = now.find(old) if WHERE == "left" else now.rfind(old)
            now = now[:at] + new + now[at + len(old) :]
        if idle <= steps // 4 and len({old for old, _ in rules}) == len(rules) and all(old != new for old, new in rules):
            break
    lines = [f"- Rule {number}: {old} becomes {new}." for number, (old, new) in enumerate(rules, start=1)]
    return {"word": word, "rules": rules, "steps": steps}, [word, "\n".join(lines), str(steps)]
