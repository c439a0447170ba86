"""Right answers of which only some count: the generator."""

part_a = None
__bound__ = __code__ = __draws__ = __measured__ = __rule__ = None
# --- program ---

__rule__ = __code__


def measured(answer):
    __measured__

make_a = part_a()


def input(difficulty):
    for _ in range(__draws__):
        first, texts, answers = make_a(difficulty)
        values = sorted(measured(answer) for answer in answers)
        if len(values) > 2 and values[len(values) // 3] < values[-2]:
            bound = values[-2]
            return __bound__
    raise ValueError("in __draws__ draws no third of the right answers was left out, or fewer than two counted")
