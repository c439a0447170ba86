"""Right answers of which only some count: the primary."""

part_a = lacks = None
__code__ = __fits__ = __keys__ = __measured__ = __rule__ = None
# --- program ---

__rule__ = __code__
every_a = part_a()


def measured(answer):
    __measured__


def every(inputs):
    return (answer for answer in every_a(inputs["a"]) if __fits__)


def solution(inputs):
    if lacks(inputs, __keys__):
        return {"status": "schema_error", "detail": "a"}
    return next(every(inputs))
