"""Candidate edits: where patches to try come from."""
