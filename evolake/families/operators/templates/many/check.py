"""Right answers of which only some count: a checker."""

part_a = None
__code__ = __fits__ = __measured__ = __rule__ = None
# --- program ---

__rule__ = __code__
check_a = part_a()


def measured(answer):
    __measured__


def check(inputs, answer):
    return check_a(inputs["a"], answer) is True and bool(__fits__)
