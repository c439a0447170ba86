import re


def read(text):
    buttons = int(re.search(r"A circuit has (\d+) buttons", text).group(1))
    gates = [[kind, int(one), int(two)] for kind, one, two in re.findall(r": (AND|OR|XOR|MIX) of wire (\d+) and wire (\d+)", text)]
    asked = int(re.search(r"is wire number (\d+)", text).group(1))
    return {"buttons": buttons, "gates": gates, "asked": asked, "wires": buttons + len(gates)}
