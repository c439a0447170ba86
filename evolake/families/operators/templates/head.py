"""What every validator of a child asks of inputs and answers."""

# --- program ---

def failed(answer):
    return isinstance(answer, dict) and answer.get("status") == "schema_error"


def lacks(inputs, *keys):
    return not isinstance(inputs, dict) or bool(set(keys) - set(inputs))
