"""One long bit string a claim, with a bit for each of the 2^n settings; lines become and, or, exclusive or of such strings."""

KIND = "some"
HELD = True


def solution(inputs):
    if not isinstance(inputs, dict) or not isinstance(inputs.get("switches"), int) or not isinstance(inputs.get("clauses"), list):
        return {"status": "schema_error", "detail": "switches, clauses, asked"}
    count = inputs["switches"]
    everything = (1 << (1 << count)) - 1
    columns = {}
    for number in range(1, count + 1):
        run = 1 << (number - 1)
        column = ((1 << run) - 1) << run
        width = 2 * run
        while width < 1 << count:
            column |= column << width
            width *= 2
        columns[number], columns[-number] = column, everything ^ column
    left = columns[inputs["asked"] if HELD else -inputs["asked"]]
    for clause in inputs["clauses"]:
        a, b, c = (columns[literal] for literal in clause)
        if KIND == "some":
            left &= a | b | c
        else:
            left &= (a ^ b ^ c) & (everything ^ (a & b & c))
    return left.bit_count()
