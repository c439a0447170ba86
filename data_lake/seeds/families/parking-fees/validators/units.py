"""A list of the units of every day, cut off where the day's fee is reached."""

FREE = "deducted"
STARTED = "up"


def fee(left, unit, price, cap):
    """The fee for a charged time, one day after the other."""
    if left <= 0:
        return 0
    today = min(left, 24 * 60)
    begins = list(range(0, today, unit))
    if STARTED == "down":
        begins = [begin for begin in begins if begin + unit <= today]
    due = price * len(begins)
    return (cap if due > cap else due) + fee(left - today, unit, price, cap)


def solution(inputs):
    if not isinstance(inputs, dict) or not isinstance(inputs.get("stays"), list) or {"free", "unit", "price", "cap"} - set(inputs):
        return {"status": "schema_error", "detail": "stays, free, unit, price, cap"}
    longer = [stay for stay in inputs["stays"] if stay > inputs["free"]]
    if FREE != "whole":
        longer = [stay - inputs["free"] for stay in longer]
    return sum(fee(stay, inputs["unit"], inputs["price"], inputs["cap"]) for stay in longer)
