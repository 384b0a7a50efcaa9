"""Patches: reading edits, applying them byte for byte, writing diffs, comparing results."""

from repair.patch.application import apply_edits, apply_reply, is_safe_path, syntax_error
from repair.patch.canonical import canonical_key, normal_form
from repair.patch.diff import build_patch, git_diff
from repair.patch.model import (
    Edit,
    EditKind,
    EditStatus,
    FileChange,
    Files,
    Patch,
    PatchOutcome,
)
from repair.patch.search_replace import parse_search_replace, render_search_replace
from repair.patch.spans import indented, replace_bytes, replace_lines
from repair.patch.unified import parse_unified_diff

__all__ = [
    "Edit",
    "EditKind",
    "EditStatus",
    "FileChange",
    "Files",
    "Patch",
    "PatchOutcome",
    "apply_edits",
    "apply_reply",
    "build_patch",
    "canonical_key",
    "git_diff",
    "indented",
    "is_safe_path",
    "normal_form",
    "parse_search_replace",
    "parse_unified_diff",
    "render_search_replace",
    "replace_bytes",
    "replace_lines",
    "syntax_error",
]
