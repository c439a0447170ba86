"""Ways of reading a slot's text."""

import ast
import json
import re
# --- program ---

def whole(text):
    return text


def integer(text):
    return int(text)


def decimal(text):
    return float(text)


def integers(text):
    return [int(found) for found in re.findall(r"-?\d+", text)]


def integers_by_line(text):
    return [[int(found) for found in re.findall(r"-?\d+", line)] for line in text.splitlines() if line.strip()]


def items(text):
    return [item.strip() for item in text.split(",")]


def lines(text):
    return [line.strip() for line in text.splitlines() if line.strip()]


def literal(text):
    return json.loads(json.dumps(ast.literal_eval(text)))
