import re


def read(text):
    divisors = re.search(r"with these numbers: ([\d, ]+)\.", text).group(1)
    return {"divisors": [int(divisor) for divisor in divisors.split(",")], "limit": int(re.search(r"where N is (\d+)", text).group(1))}
