"""Let a model explore a repository with graphloc's tools by plain function calling.

    python examples/function_calling.py REPO ISSUE_FILE MODEL

The endpoint is the one that the openai package finds in OPENAI_BASE_URL and OPENAI_API_KEY.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

MOST_STEPS = 20


def graphloc(repo: str, *options: str) -> str:
    """Run the command line; a refusal is as good an answer for the model as any."""
    done = subprocess.run(
        ["graphloc", "tools", repo, *options], capture_output=True, text=True, check=False
    )
    return done.stdout or done.stderr


def explore(client: Any, model: str, repo: str, issue: str) -> str:
    """Return what the model says in the end."""
    tools = json.loads(graphloc(repo, "--format", "openai"))
    task = f"Name the functions that have to change, by their ids:\n\n{issue}"
    messages: list[Any] = [{"role": "user", "content": task}]
    for _ in range(MOST_STEPS):
        reply = client.chat.completions.create(model=model, messages=messages, tools=tools)
        message = reply.choices[0].message
        messages.append(message)
        if not message.tool_calls:
            return message.content or ""
        for call in message.tool_calls:
            asked = call.function
            answer = graphloc(repo, "--call", asked.name, "--arguments", asked.arguments)
            messages.append({"role": "tool", "tool_call_id": call.id, "content": answer})
    return "no answer: too many steps"


if __name__ == "__main__":
    from openai import OpenAI

    repo, issue_file, model = sys.argv[1:]
    issue = Path(issue_file).read_text(encoding="utf-8")
    sys.stdout.write(explore(OpenAI(), model, repo, issue) + "\n")
