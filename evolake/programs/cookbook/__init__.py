"""Questions about the programs line, one SQL file each."""
