"""Symbolic links inside a tree that is not on disk, against the file system's own answers."""

from __future__ import annotations

import os

import pytest
from hypothesis import given
from hypothesis import strategies as st

from indexes.source.links import LinkError, find_folders, get_link_target

FILES = ("f", "d/g", "d/e/h")
NAMES = st.sampled_from(["l", "d/m", "d/e/n"])
PARTS = st.sampled_from(["f", "d", "e", "g", "h", "l", "m", "n", "..", ".", ""])
TARGETS = (
    st.lists(PARTS, min_size=1, max_size=3)
    .map("/".join)
    .filter(lambda text: text and not text.startswith("/"))
)


@given(links=st.dictionaries(NAMES, TARGETS, min_size=1))
def test_agrees_with_the_file_system(tmp_path_factory, links):
    root = tmp_path_factory.mktemp("tree")
    for path in FILES:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).touch()
    for path, target in links.items():
        (root / path).symlink_to(target)
    for path in links:
        try:
            os.stat(root / path)  # realpath alone is lenient about files used as folders
            real = os.path.relpath(os.path.realpath(root / path, strict=True), root)
        except OSError:
            real = None
        assert find(path, links) == (real if real in FILES else None)


def find(path, links):
    folders = find_folders([*FILES, *links])
    try:
        return get_link_target(path, links=links, files=set(FILES), folders=folders)
    except LinkError:
        return None


@pytest.mark.parametrize(
    ("links", "reason"),
    [
        ({"a": "a"}, "circles"),
        ({"a": "b", "b": "a"}, "circles"),
        ({"a": "a/a"}, "circles"),
        ({"a": "../f"}, "leaves"),
        ({"a": "/f"}, "leaves"),
        ({"a": "d"}, "no file"),
    ],
)
def test_links_that_lead_nowhere(links, reason):
    with pytest.raises(LinkError, match=reason):
        get_link_target("a", links=links, files=set(FILES), folders=find_folders([*FILES, *links]))
