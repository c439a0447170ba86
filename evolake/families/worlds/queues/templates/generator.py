"""The generator of a queue."""

held = None
__constants__ = __everybody__ = __held__ = __make__ = __need_and_card__ = __says__ = __which__ = None
# --- program ---
import random

SAYS = __says__
__constants__
__held__


def input(difficulty):
    desks = random.choice((1, 2) if difficulty < 5 else (1, 2, 3))
    at, people = 0, []
    for _ in range(5 + 4 * difficulty // 5):
        at += random.randint(1, (5, 3, 2)[desks - 1])
        people.append([at, __need_and_card__])
    calls, gone, line = held(__everybody__, desks)
    ask = __make__
    lines = [SAYS[__which__].format(i, *one) for i, one in enumerate(people, start=1)]
    return {"desks": desks, "people": people, "ask": ask}, [str(desks), "\n".join(lines), *map(str, ask.values())]
