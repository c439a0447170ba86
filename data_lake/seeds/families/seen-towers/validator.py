"""A stack of the towers that an observer further east can still see, as in the search for the next greater element."""

BETWEEN = "lower"
ASKED = "pairs"


def solution(inputs):
    if not isinstance(inputs, dict) or not isinstance(inputs.get("heights"), list) or not isinstance(inputs.get("apart"), int):
        return {"status": "schema_error", "detail": "heights and apart"}
    heights = inputs["heights"]
    stack, pairs = [], []
    for east, height in enumerate(heights):
        while stack and heights[stack[-1]] < height:
            pairs.append((stack.pop(), east))
        if BETWEEN == "lower":
            if stack:
                pairs.append((stack[-1], east))
                if heights[stack[-1]] == height:
                    stack.pop()
        else:
            place = len(stack) - 1
            while place >= 0 and heights[stack[place]] == height:
                pairs.append((stack[place], east))
                place -= 1
            if place >= 0:
                pairs.append((stack[place], east))
        stack.append(east)
    values = {
        "pairs": lambda west, east: 1, "places": lambda west, east: east - west, "heights": lambda west, east: abs(heights[east] - heights[west]),
    }
    return sum(values[ASKED](west, east) for west, east in pairs if east - west >= inputs["apart"])
