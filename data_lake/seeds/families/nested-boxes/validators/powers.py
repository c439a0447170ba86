"""A table of which box goes into which; the entries of its powers count chains of that many steps."""

FITS = "smaller"
TURNING = "fixed"


def times(left, right):
    columns = list(zip(*right, strict=True))
    return [[sum(one * other for one, other in zip(row, column, strict=True)) for column in columns] for row in left]


def solution(inputs):
    if not isinstance(inputs, dict) or {"boxes", "chain"} - set(inputs):
        return {"status": "schema_error", "detail": "boxes and chain"}
    shapes = [tuple(sorted(box, reverse=True)) if TURNING == "turned" else tuple(box) for box in inputs["boxes"]]
    slack = 1 if FITS == "smaller" else 0
    table = [
        [int(small != large and all(one + slack <= other for one, other in zip(small, large, strict=True))) for large in shapes] for small in shapes
    ]
    power = [[int(row == column) for column in range(len(shapes))] for row in range(len(shapes))]
    steps = inputs["chain"] - 1
    while steps:
        if steps % 2:
            power = times(power, table)
        table = times(table, table)
        steps //= 2
    return sum(map(sum, power))
