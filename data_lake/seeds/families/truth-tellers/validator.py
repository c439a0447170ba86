"""Every statement is an equation over two values; Gaussian elimination on rows of bits. The last bit is the right-hand side."""

ANCHOR = True
WANTED = False


def solution(inputs):
    if not isinstance(inputs, dict) or not isinstance(inputs.get("statements"), list) or not isinstance(inputs.get("count"), int):
        return {"status": "schema_error", "detail": "count and statements"}
    count = inputs["count"]
    rows = [1 << 1 | int(ANCHOR)]
    for speaker, first, second, positive in inputs["statements"]:
        row = 1 << speaker ^ 1 << first
        if second is None:
            row ^= int(not positive)
        else:
            row ^= 1 << second ^ int(positive)
        rows.append(row)
    pivots = {}
    for row in rows:
        for column, pivot in pivots.items():
            if row >> column & 1:
                row ^= pivot
        if row > 1:
            column = row.bit_length() - 1
            for other in pivots:
                if pivots[other] >> column & 1:
                    pivots[other] ^= row
            pivots[column] = row
        elif row == 1:
            return {"status": "schema_error", "detail": "statements contradict each other"}
    values = {column: bool(pivot & 1) for column, pivot in pivots.items()}
    return [person for person in range(1, count + 1) if values[person] == WANTED]
