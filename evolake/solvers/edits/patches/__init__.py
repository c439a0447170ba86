"""The structural patches, one file a subject. Anchors are matched token by token, so white space in them does
not matter."""
