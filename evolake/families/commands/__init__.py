"""Commands of `evolake` that the line brings."""
