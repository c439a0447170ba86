"""A row of bits a wire, one bit for each way of pressing the buttons; gates work on whole rows."""

MIX = "inhibit"
WANTED = True


def solution(inputs):
    if not isinstance(inputs, dict) or {"buttons", "gates", "asked"} - set(inputs):
        return {"status": "schema_error", "detail": "buttons, gates, asked"}
    ways = 1 << inputs["buttons"]
    full = (1 << ways) - 1
    rows = [0]
    for button in range(inputs["buttons"]):
        rows.append(sum(1 << way for way in range(ways) if way >> button & 1))
    for kind, first, second in inputs["gates"]:
        a, b = rows[first], rows[second]
        if kind == "MIX":
            rows.append({"inhibit": a & (full ^ b), "same": full ^ a ^ b, "notboth": full ^ (a & b)}[MIX])
        else:
            rows.append({"AND": a & b, "OR": a | b, "XOR": a ^ b}[kind])
    live = rows[inputs["asked"]].bit_count()
    return live if WANTED else ways - live
