"""Programs that run inside a sandbox, under the interpreter of the program under test.

They need the standard library and pytest only, import each other and nothing else of ours, and
avoid syntax newer than Python 3.9. `repair.testing.assembly` sends them in as one script.
"""
