import json
import re


def read(text):
    factors = [json.loads(found) for found in re.findall(r"- factor \d+: (\[[^\]]*\])", text)]
    power = int(re.search(r"let k be (\d+)", text).group(1))
    return {"factors": factors, "power": power, "degree": sum(len(factor) - 1 for factor in factors)}
