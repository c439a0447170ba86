"""A table of who owes whom."""

SHARE = "all"
SIGN = 1


def solution(inputs):
    try:
        people, expenses, asked = range(1, inputs["count"] + 1), inputs["expenses"], inputs["asked"]
        owes = {(one, other): 0 for one in people for other in people}
    except (TypeError, KeyError):
        return {"status": "schema_error", "detail": "count, expenses, asked"}
    for payer, amount, sharers in expenses:
        debtors = [sharer for sharer in sharers if sharer != payer]
        part = amount // len(debtors) if SHARE == "others" else amount // len(sharers)
        for debtor in debtors:
            owes[debtor, payer] += part
    gets = sum(owes[other, asked] for other in people)
    gives = sum(owes[asked, other] for other in people)
    return gets - gives if SIGN == 1 else gives - gets
