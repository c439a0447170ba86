"""From any child to an older one, as long as there is one; or to a younger one."""

END = "oldest"


def solution(inputs):
    try:
        said = [(one, how, two) for one, how, two in inputs["said"]]
    except (TypeError, KeyError, ValueError):
        return {"status": "schema_error", "detail": "said"}
    here = said[0][0]
    moved = True
    while moved:
        moved = False
        for one, how, two in said:
            if how == "younger":
                one, two = two, one
            if END == "youngest":
                one, two = two, one
            if two == here:
                here, moved = one, True
    return here
