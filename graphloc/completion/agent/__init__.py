"""The test-first agent: tests, then code, both refined on what running them says."""
