"""Reading an issue: what a bug report or feature request says that code can be searched for."""

from graphloc.issue.model import (
    Block,
    BlockKind,
    DocumentationLink,
    ErrorKind,
    Frame,
    Identifier,
    IdentifierKind,
    Issue,
    IssueLanguage,
    PathMention,
    Permalink,
    Place,
    ReportedError,
    Snippets,
    path_suffixes,
)
from graphloc.issue.reader import read_issue

__all__ = [
    "Block",
    "BlockKind",
    "DocumentationLink",
    "ErrorKind",
    "Frame",
    "Identifier",
    "IdentifierKind",
    "Issue",
    "IssueLanguage",
    "PathMention",
    "Permalink",
    "Place",
    "ReportedError",
    "Snippets",
    "path_suffixes",
    "read_issue",
]
