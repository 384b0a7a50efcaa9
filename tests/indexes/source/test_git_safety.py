"""What a foreign repository or a surrounding git command must not be able to do."""

from __future__ import annotations

import os

import pytest

from indexes.errors import GitError
from indexes.source import open_source


def use(path):
    """Do all that can be done with a repository."""
    tree, revision = open_source(path), open_source(path, "HEAD")
    entries = revision.entries()
    assert [entry.path for entry in tree.entries()] == [entry.path for entry in entries]
    assert len(list(revision.read(entries))) == len(entries)
    assert len(list(tree.commits(9))) == 2


def test_somebody_elses_repository_can_be_indexed(repository, tmp_path):
    if os.geteuid() == 0:
        for folder, _, files in os.walk(repository.path):
            for name in (folder, *(os.path.join(folder, file) for file in files)):
                os.chown(name, 1234, 1234)
    use(repository.path)


def test_no_program_of_the_repository_runs(repository, tmp_path):
    trap = tmp_path / "trap"
    ran = tmp_path / "ran"
    trap.write_text(f"#!/bin/sh\ntouch {ran}\ncat\n")
    trap.chmod(0o755)
    for key in (
        "core.fsmonitor",
        "core.pager",
        "core.sshCommand",
        "diff.external",
        "diff.trap.command",
        "diff.trap.textconv",
        "filter.trap.smudge",
        "filter.trap.clean",
        "filter.trap.process",
        "gpg.program",
    ):
        repository.git("config", key, str(trap))
    repository.git("config", "log.showSignature", "true")
    (repository.path / ".git/info/attributes").write_text("* filter=trap diff=trap\n")
    hooks = repository.path / ".git/hooks"
    hooks.mkdir(exist_ok=True)
    for hook in ("post-index-change", "fsmonitor-watchman", "reference-transaction"):
        (hooks / hook).write_bytes(trap.read_bytes())
        (hooks / hook).chmod(0o755)
    ran.unlink(missing_ok=True)
    os.utime(repository.path / "pkg/a.py")
    use(repository.path)
    assert not ran.exists()


def test_variables_of_a_hook_do_not_lead_elsewhere(repository, make_repository, monkeypatch):
    other = make_repository("other")
    for name, value in {
        "GIT_DIR": str(other.path / ".git"),
        "GIT_WORK_TREE": str(other.path),
        "GIT_INDEX_FILE": str(other.path / ".git/index"),
        "GIT_OBJECT_DIRECTORY": str(other.path / ".git/objects"),
        "GIT_PREFIX": "nowhere/",
        "GIT_CONFIG_COUNT": "broken",
        "GIT_EXTERNAL_DIFF": "false",
        "GIT_TRACE": "2",
    }.items():
        monkeypatch.setenv(name, value)
    use(repository.path)


def test_settings_that_change_what_log_prints_do_no_harm(repository):
    for key, value in {
        "log.decorate": "full",
        "log.date": "relative",
        "log.showRoot": "false",
        "log.follow": "true",
        "log.diffMerges": "first-parent",
        "diff.orderFile": "nowhere",
        "diff.relative": "true",
        "diff.renames": "copies",
        "color.ui": "always",
        "core.quotePath": "true",
        "format.pretty": "fuller",
        "i18n.logOutputEncoding": "UTF-16",
    }.items():
        repository.git("config", key, value)
    commits = list(open_source(repository.path, "HEAD").commits(9))
    assert [commit.message for commit in commits] == ["second\n\nwith a body", "first"]
    assert [c.path for c in commits[1].changes] == ["old.py", "pkg/a.py", "pkg/data.bin"]


def test_a_repository_that_git_cannot_use_gives_its_reason(repository):
    (repository.path / ".git/index").write_bytes(b"not an index")
    with pytest.raises(GitError, match=r"git failed in .*repo: .*index"):
        open_source(repository.path).entries()
    repository.path.joinpath(".git/config").write_text("[core\n")
    with pytest.raises(GitError, match="bad config line"):
        open_source(repository.path)


def test_the_index_of_git_is_not_written(repository):
    index = repository.path / ".git/index"
    before = index.read_bytes()
    os.utime(repository.path / "pkg/a.py")
    use(repository.path)
    assert index.read_bytes() == before
