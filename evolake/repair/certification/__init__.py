"""Whether an answer holds, by two independent means; the minimal core where it does not; the labels."""
