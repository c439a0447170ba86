"""Only elements that meet a condition: the generator."""

part_a = inputs = None
__code__ = __drawn__ = __draws__ = __keeps__ = __least__ = __list__ = __number__ = __rule__ = None
# --- program ---

__rule__ = __code__


def kept(value, place, inputs):
    return __keeps__[__rule__]

make_a = part_a()


def input(difficulty):
    for _ in range(__draws__):
        first, texts = make_a(difficulty)
        whole = __list__
        __drawn__
        stay = sum(kept(__number__, place, inputs) for place, item in enumerate(whole))
        if __least__ <= stay < len(whole):
            return inputs, texts
    raise ValueError("in __draws__ draws the condition removed nothing, or left too few")
