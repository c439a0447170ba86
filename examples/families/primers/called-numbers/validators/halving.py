"""Halving the sorted numbers until Ida's place among them is found."""

ASKED = "among"


def solution(inputs):
    if not isinstance(inputs, dict) or {"numbers", "wanted"} - set(inputs):
        return {"status": "schema_error", "detail": "numbers, wanted"}
    row = sorted(set(inputs["numbers"]))
    low, high = 0, len(row)
    while low < high:
        middle = (low + high) // 2
        if row[middle] < inputs["wanted"]:
            low = middle + 1
        else:
            high = middle
    if ASKED == "above":
        return ["no", "yes"][low == len(row)]
    return ["no", "yes"][low < len(row) and row[low] == inputs["wanted"]]
