"""Who stands on the other side of no sentence."""

END = "oldest"


def solution(inputs):
    if not isinstance(inputs, dict) or not isinstance(inputs.get("said"), list):
        return {"status": "schema_error", "detail": "said"}
    above, below = set(), set()
    for one, how, two in inputs["said"]:
        above.add(one if how == "older" else two)
        below.add(two if how == "older" else one)
    left = above - below if END == "oldest" else below - above
    return min(left)
