"""The generator of a constraint world."""

law = None
count = n = 0
more = ()
__clues_and_own__ = __constants__ = __constraints__ = __kinds__ = __least__ = __lines_and_own__ = __make__ = None
__most__ = __names__ = __sizes__ = __views__ = __wanted__ = None
# --- program ---
import random
from itertools import combinations, permutations, product

NAMES = __names__
__constants__
__constraints__


KINDS = __kinds__


def clue(view, count, n, more):
    """A constraint that the arrangement meets; None if none is found."""
    for _ in range(1000):
        kind = random.choice(list(KINDS))
        fits, things, spans, apart, _ = KINDS[kind]
        numbers = [random.choice(span(*more)) for span in spans]
        args = random.sample(range(count), things) + numbers
        if not (apart and len(set(numbers)) < len(numbers)) and fits(view, *more, *args):
            return [kind, *args]


def said(drawn, names):
    kind, *args = drawn
    _, things, _, _, patterns = KINDS[kind]
    words = dict(zip("abc", (names[e] for e in args[:things]))) | dict(zip("kl", args[things:]))
    return random.choice(patterns).format(**words)


def attempt(difficulty):
    __sizes__
    names = random.sample(NAMES, count)
    open_ = list(__views__)
    marked = sorted(random.sample(range(count), max(2, count // 2)))
    open_ = [view for view in open_ if law(view, *more, *marked)]
    if not open_:
        return None
    hidden, clues = random.choice(open_), []
    for _ in range(300):
        if len(clues) >= __wanted__ and len(open_) <= __most__:
            break
        drawn = clue(hidden, count, n, more)
        if drawn is None:
            return None
        left = [view for view in open_ if KINDS[drawn[0]][0](view, *more, *drawn[1:])]
        if max(__least__, min(len(open_) // 5, __most__)) <= len(left) < len(open_):
            clues.append(drawn)
            open_ = left
    if len(clues) < 2 or not __least__ <= len(open_) <= __most__:
        return None
    ask, texts = None, []
    __make__
    if ask is None:
        return None
    random.shuffle(clues)
    lines = ["- " + said(drawn, names) for drawn in clues]
    given = {"names": names, "clues": __clues_and_own__, "marked": marked, "ask": ask}
    return given, [listed(names), __lines_and_own__, listed([names[e] for e in marked]), *texts]


def listed(names):
    return ", ".join(names[:-1]) + " and " + names[-1]


def input(difficulty):
    for _ in range(200):
        made = attempt(difficulty)
        if made is not None:
            return made
    raise ValueError("no instance was found")
