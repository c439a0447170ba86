#!/bin/sh
# Print the Python that evolake is installed with: the oldest one on this machine that is supported.
# The system's own Python comes first, because that is what most users have. Continuous integration
# calls the same script, so it tests what users get.
supported='import sys, venv, ensurepip; sys.exit(not (3, 11) <= sys.version_info[:2] < (3, 14))'

suits() { "$1" -c "$supported" >/dev/null 2>&1; }

if suits /usr/bin/python3; then
  echo /usr/bin/python3
  exit 0
fi
for name in python3.11 python3.12 python3.13 python3; do
  # A name on PATH can be a launcher of a version that is not installed, so it is tried.
  if suits "$name"; then
    command -v "$name"
    exit 0
  fi
done
echo "evolake needs Python 3.11, 3.12 or 3.13 with its venv module." >&2
echo "Found: $(python3 --version 2>&1 || echo no python3)." >&2
echo "On Debian or Ubuntu: apt-get install python3 python3-venv. Or name one: make PYTHON=/path/to/python3.12 ..." >&2
exit 2
