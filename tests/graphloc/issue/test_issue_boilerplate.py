"""What templates wrote goes; what reporters wrote stays."""

from __future__ import annotations

import pytest

from graphloc.issue import read_issue
from graphloc.issue.boilerplate import is_template_heading

TEMPLATE = """\
Shelf loses books

<!-- Please fill in everything below -->
### Is there an existing issue for this?

- [X] I have searched the existing issues
- [ ] I've read the [guidelines](https://github.com/o/r/blob/main/CONTRIBUTING.md)

**Describe the bug**
A clear and concise description of what the bug is.

Books vanish after `shelf.sort_all()`.

### Expected behavior

_No response_

### Environment

- OS: Linux
- Python version: 3.12.1
- I run it inside the reading_room daemon

```
numpy==1.26.4
shelves==2.0
```

### Tasks

- [ ] keep order in sort_all
"""


def test_template() -> None:
    issue = read_issue(TEMPLATE)
    assert issue.prose == (
        "Books vanish after `shelf.sort_all()`.",
        "- I run it inside the reading_room daemon",
        "- [ ] keep order in sort_all",
    )
    assert issue.code_blocks == ()
    assert issue.permalinks == ()
    assert {"shelf.sort_all", "sort_all", "reading_room"} == {i.name for i in issue.identifiers}


@pytest.mark.parametrize(
    "heading",
    ["Describe the bug", "Steps to Reproduce:", "🐛 Bug", "What Python version are you using?"],
)
def test_template_headings(heading: str) -> None:
    assert is_template_heading(heading)


@pytest.mark.parametrize("heading", ["Wrong order in sort_all", "`Shelf`", "Sorting", "v2.0"])
def test_own_headings(heading: str) -> None:
    assert not is_template_heading(heading)


@pytest.mark.parametrize(
    "sentence",
    [
        "I checked the docs, and sort() should keep the order. Is that so?",
        "I have searched for books with find_all and none came.",
        "Please describe how shelves are sorted",
        "- [x] step one works",
        "Component: shelves",
    ],
)
def test_own_sentences_stay(sentence: str) -> None:
    assert read_issue(f"Title\n\n## Environment\n\n{sentence}").prose == (sentence,)


def test_listings_go_outside_of_fences_too() -> None:
    listing = "\n".join(f"package{n}: {n}.2.1" for n in range(12))
    issue = read_issue(f"Title\n\nINSTALLED VERSIONS\n------------------\n{listing}\n\nmy words")
    assert issue.prose == ("my words",)


def test_logs_and_yaml_are_no_listings() -> None:
    log = "\n".join(f"Apr 29 23:03:{n} host app[63]: ERROR no book_{n}" for n in range(10, 24))
    yaml = "\n".join(f"shelf_{n}:\n  size: large" for n in range(8))
    issue = read_issue(f"Title\n\n## Environment\n\n```\n{log}\n```\n\n```yaml\n{yaml}\n```")
    assert [block.text for block in issue.code_blocks] == [log, yaml]


def test_an_issue_of_boilerplate_only_is_kept() -> None:
    assert read_issue("Title\n\nsee error").prose == ("see error",)
