"""A table of what is known for every two members, closed step by step (Floyd and Warshall): 2 for older, 1 for not younger."""

STRICT = 1
WEAK = 1
SUBJECT = "first"


def solution(inputs):
    if not isinstance(inputs, dict) or not isinstance(inputs.get("notes"), list) or {"count", "one", "other"} - set(inputs):
        return {"status": "schema_error", "detail": "count, notes, one, other"}
    members = range(1, inputs["count"] + 1)
    known = {(left, right): int(left == right) for left in members for right in members}
    for left, sign, right in inputs["notes"]:
        facts = [(left, right), (right, left)] if sign == "=" else [(left, right)]
        if (sign == ">" and STRICT < 0) or (sign == ">=" and WEAK < 0):
            facts = [(right, left)]
        for fact in facts:
            known[fact] = max(known[fact], 2 if sign == ">" else 1)
    for middle in members:
        for left in members:
            for right in members:
                if known[left, middle] and known[middle, right]:
                    known[left, right] = max(known[left, right], known[left, middle], known[middle, right])
    there, back = known[inputs["one"], inputs["other"]], known[inputs["other"], inputs["one"]]
    if there == 2 or back == 2:
        return "older" if (there == 2) == (SUBJECT == "first") else "younger"
    return "same" if there and back else "unknown"
