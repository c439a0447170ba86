import re


def read(text):
    pours = [[int(minute), int(litres)] for minute, litres in re.findall(r"- in minute (\d+): (\d+) litres", text)]
    asked = re.search(r"at the end of minute (\d+)\?", text).group(1)
    return {
        "capacity": int(re.search(r"A tank for (\d+) litres", text).group(1)), "pours": pours,
        "leak": int(re.search(r"it loses (\d+) litres at once", text).group(1)),
        "asked": int(asked), "last": int(re.search(r"in the minutes 1 to (\d+)\.", text).group(1)),
    }
