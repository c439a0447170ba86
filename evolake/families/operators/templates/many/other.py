"""Right answers of which only some count: the independent validators."""

part_a = None
__code__ = __fits__ = __measured__ = __rule__ = None
# --- program ---

__rule__ = __code__
answers_a = part_a()


def measured(answer):
    __measured__


def solution(inputs):
    try:
        found = answers_a(inputs["a"])
    except (TypeError, KeyError):
        return {"status": "schema_error", "detail": "a"}
    for answer in found:
        if __fits__:
            return answer
    return {"status": "schema_error", "detail": "no answer counts"}
