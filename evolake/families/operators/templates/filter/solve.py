"""Only elements that meet a condition: the primary."""

part_a = lacks = None
__code__ = __keeps__ = __keys__ = __list__ = __number__ = __paths__ = __rule__ = None
# --- program ---

__rule__ = __code__


def stays_there(value, place, inputs):
    return __keeps__[__rule__]

solve_a = part_a()


def solution(inputs):
    if lacks(inputs, __keys__):
        return {"status": "schema_error", "detail": "a"}
    first = dict(inputs["a"])
    stays = [stays_there(__number__, place, inputs) for place, item in enumerate(__list__)]
    if any(stays):
        for path in __paths__:
            outer = first
            for key in path[:-1]:
                outer[key] = dict(outer[key])
                outer = outer[key]
            outer[path[-1]] = [item for item, stay in zip(outer[path[-1]], stays) if stay]
    return solve_a(first)
