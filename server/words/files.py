"""
Reads files of texts in Fluent (https://projectfluent.org), and finds what a text uses. Fluent's messages are the texts
of pages; its terms are texts that only other texts refer to.
"""

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from fluent.syntax import FluentParser, ast
from fluent.syntax.visitor import Visitor

FOLDER = Path(__file__).parent
DEFAULT = "en"  # the language that has all texts; where another one lacks a text, this one's is used
ENTRY = re.compile(r"^(-?[A-Za-z][\w-]*) *=.*(?:\n(?:[ }].*)?$)*", re.MULTILINE)  # a message or term, all its lines
TAG = re.compile(r"<(?P<end>/?)(?P<element>[a-z]+)/?>")  # in a text, of an element of the page
FUNCTIONS = {"NUMBER", "DATETIME"}  # of Fluent

Entries = Mapping[str, str]  # messages and terms as their files have them, by their ids; the id of a term begins with -
Node = ast.Message | ast.Term


def built_in() -> list[str]:
    """The languages with built-in texts."""
    return sorted(path.stem for path in FOLDER.glob("*.ftl"))


@cache
def built_in_entries(language: str) -> Entries:
    """
    The built-in texts of a language, not parsed: each is parsed when it is first used, because all of them take 100 ms.
    """
    source = (FOLDER / f"{language}.ftl").read_text(encoding="utf-8")
    return {found[1]: found[0].rstrip() for found in ENTRY.finditer(source)}


def node_of(source: str) -> Node:
    """The syntax tree of a message or a term, which is known to be right."""
    node = FluentParser().parse_entry(source)
    assert isinstance(node, Node), source
    return node


def used_in(node: ast.BaseNode) -> "Used":
    used = Used()
    used.visit(node)
    return used


class Used(Visitor):
    """The variables and the elements of a text, and the messages, terms and functions that it refers to."""

    def __init__(self) -> None:
        self.variables: set[str] = set()
        self.elements: set[str] = set()
        self.references: set[str] = set()

    def visit_VariableReference(self, node: ast.VariableReference) -> None:
        self.variables.add(node.id.name)

    def visit_MessageReference(self, node: ast.MessageReference) -> None:
        self.references.add(node.id.name)

    def visit_TermReference(self, node: ast.TermReference) -> None:
        self.references.add(f"-{node.id.name}")
        self.generic_visit(node)

    def visit_FunctionReference(self, node: ast.FunctionReference) -> None:
        self.references.add(node.id.name)
        self.generic_visit(node)

    def visit_TextElement(self, node: ast.TextElement) -> None:
        self.elements |= {found["element"] for found in TAG.finditer(node.value)}
