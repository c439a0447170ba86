"""The generator of a process world."""

played = None
ask = texts = ()
__cap_and_marks__ = __constants__ = __events__ = __make__ = __played__ = __start_texts__ = __uses__ = None
# --- program ---
import random

EVENTS = __events__
__constants__
__played__


def input(difficulty):
    cap, m = random.randint(5, 7) + difficulty // 4, random.randint(5, 8)
    drawn = {"a": random.randint(0, cap), "b": random.randint(0, cap), "r": random.randrange(m), "q": random.randrange(2)}
    start = {name: drawn[name] for name in __uses__}
    events = [random.randrange(3) for _ in range(4 + 2 * difficulty)]
    plan = {"cap": __cap_and_marks__, "start": start, "events": events}
    trace = played(start, plan)
    __make__
    shown = [__start_texts__, ", ".join(EVENTS[event] for event in events)]
    return {**plan, "ask": ask}, [*shown, *texts]
