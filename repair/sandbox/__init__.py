"""Sandboxes: running code nobody has vouched for, in copies nobody will miss."""

from repair.sandbox.environment import PythonEnvironment, find_python_environment
from repair.sandbox.local import LocalSandbox
from repair.sandbox.model import (
    MIB,
    Limits,
    Protection,
    RunResult,
    Sandbox,
    SandboxKind,
    StopReason,
    Threat,
)
from repair.sandbox.opening import open_sandbox
from repair.sandbox.workspace import Workspace

__all__ = [
    "MIB",
    "Limits",
    "LocalSandbox",
    "Protection",
    "PythonEnvironment",
    "RunResult",
    "Sandbox",
    "SandboxKind",
    "StopReason",
    "Threat",
    "Workspace",
    "find_python_environment",
    "open_sandbox",
]
