#!/usr/bin/env bash
# Runs once in the container of the task; GRAPHLOC_PACKAGE may name a wheel or a URL.
set -euo pipefail
command -v graphloc >/dev/null || pip install "${GRAPHLOC_PACKAGE:-graphloc}"
