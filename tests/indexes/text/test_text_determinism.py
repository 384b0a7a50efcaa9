"""The arrays of an index do not depend on the process that built them."""

import os
import subprocess
import sys

SCRIPT = """
import hashlib
from indexes.text import PhraseIndexBuilder, TextIndexBuilder, WindowIndex, build_windows

text, phrases = TextIndexBuilder(["names", "body"]), PhraseIndexBuilder()
for doc in range(40):
    words = {f"name{doc % 7}_of{doc % 5}": doc + 1, "größeWert": 2, f"Http{doc}Server": 1}
    text.add({"names": words, "body": {word.upper(): 1 for word in words}})
    phrases.add(doc, [f"cannot open file number {doc} because %s", "connection lost again"])
index = WindowIndex(build_windows({f"{n}.py": f"alpha beta{n % 3}\\n" * 30 for n in range(9)}))
digest = hashlib.sha256(repr(index.search("alpha beta1 gamma")).encode())
for arrays in (text.build().to_arrays(), phrases.build(40).to_arrays()):
    for name, array in arrays.items():
        digest.update(f"{name} {array.dtype} {array.shape}".encode() + array.tobytes())
print(digest.hexdigest())
"""


def run_with_hash_seed(seed: str) -> str:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


def test_hash_seeds_change_nothing() -> None:
    first = run_with_hash_seed("1")
    assert len(first.strip()) == 64
    assert run_with_hash_seed("2") == first
