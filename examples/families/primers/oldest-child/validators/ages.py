"""Ages are raised until every sentence holds, year by year."""

END = "oldest"


def solution(inputs):
    if not isinstance(inputs, dict) or "said" not in inputs:
        return {"status": "schema_error", "detail": "said"}
    ages = {name: 1 for one, _, two in inputs["said"] for name in (one, two)}
    for _ in range(len(ages)):
        for one, how, two in inputs["said"]:
            if how == "older" and ages[one] <= ages[two]:
                ages[one] = ages[two] + 1
            if how == "younger" and ages[two] <= ages[one]:
                ages[two] = ages[one] + 1
    names = {age: name for name, age in ages.items()}
    return names[len(ages)] if END == "oldest" else names[1]
