"""Tests as evidence: running them, what they cover, what they say about a changed program."""
