import json
import re


def read(text):
    return {
        "months": json.loads(re.search(r"in this order: (\[[\d, ]+\])", text).group(1)),
        "every": int(re.search(r"divisible by (\d+) is a long year", text).group(1)),
        "date": json.loads(re.search(r"Today is the date (\[[-\d, ]+\])", text).group(1)),
        "later": int(re.search(r"Consider the date \D+(\d+) days\.", text).group(1)),
    }
