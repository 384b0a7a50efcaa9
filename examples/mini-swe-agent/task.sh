#!/bin/sh
# Print a task for mini-swe-agent: the issue, then where graphloc would look first.
#   mini -c mini.yaml -c graphloc.yaml -t "$(examples/mini-swe-agent/task.sh issue.md path/to/repo)"
set -eu
issue=${1:?usage: task.sh ISSUE_FILE [REPO]}
repo=${2:-.}
printf 'Resolve this issue:\n\n'
cat -- "$issue"
printf '\n\nWhere to look first, says graphloc (probability that the fix changes the place):\n\n'
# Exit code 1 says that nothing matches; the task is then the issue alone.
graphloc localize "$repo" --issue "$issue" --format markdown --max-tokens "${GRAPHLOC_MAX_TOKENS:-1500}" ||
    [ $? -eq 1 ]
