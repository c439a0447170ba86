"""What a project and a program are: folders, blocks, marked numbers. Nothing here runs anything."""
