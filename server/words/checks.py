"""
Checks files of texts (Fluent messages) by which the operator of a site overrides the built-in ones. What is wrong is
said with its line.
"""

import re
from operator import attrgetter

from babel import Locale, UnknownLocaleError
from fluent.runtime.errors import FluentFormatError
from fluent.syntax import FluentParser, ast

from server.branding.checks import WrongFile, text
from server.words.files import DEFAULT, Entries, Node, built_in, built_in_entries, node_of, used_in
from server.words.words import Words

LANGUAGE = re.compile(r"[a-z]{2,3}(-[A-Za-z0-9]{2,8})*")


def own_entries(name: str, body: bytes) -> tuple[Entries, list[WrongFile]]:
    """
    The texts in a file of the operator's, such as `words.ftl` or `de.ftl`, and what is wrong with others: lines that
    are not Fluent, and texts that pages do not have, or with a variable, an element or a reference that is not there.

    Raises:
        WrongFile: it is empty, not UTF-8, or names no language.
    """
    language = name.removesuffix(".ftl")
    if name != "words.ftl" and not is_language(language):
        raise WrongFile(f"there is no language {language}")
    source = text(body)
    parsed = FluentParser().parse(source).body
    # the names of terms begin with -, which the parser leaves out
    nodes = {("-" * isinstance(node, ast.Term)) + node.id.name: node for node in parsed if isinstance(node, Node)}
    own = {each: source[start_of(node) - each.startswith("-") : end_of(node)].rstrip() for each, node in nodes.items()}
    known = built_in_entries(DEFAULT)
    wrong = {each: reason for each, node in nodes.items() if (reason := _fault_of(each, node, known))}
    right = {each: entry for each, entry in own.items() if each not in wrong}
    entries = {**known, **right}
    wrong |= {each: reason for each in right if (reason := _fault_when_used(each, nodes[each], entries))}
    junk = [_fault(source, node.annotations[0]) for node in parsed if isinstance(node, ast.Junk)]
    faults = [*junk, *(WrongFile(reason, _line(source, start_of(nodes[each]))) for each, reason in wrong.items())]
    return {each: entry for each, entry in own.items() if each not in wrong}, sorted(faults, key=attrgetter("line"))


def is_language(code: str) -> bool:
    """Whether a code is that of a language whose plurals and dates are known, such as `de` or `pt-BR`."""
    try:
        return bool(LANGUAGE.fullmatch(code)) and Locale.parse(code, sep="-") is not None
    except (UnknownLocaleError, ValueError):
        return False


def start_of(node: Node) -> int:
    """Where the name of an entry begins in its file."""
    return node.id.span.start if node.id.span else 0


def end_of(node: Node) -> int | None:
    return node.span.end if node.span else None


def _fault(source: str, found: ast.Annotation) -> WrongFile:
    return WrongFile(f"it is not Fluent: {found.message}", _line(source, found.span.start if found.span else 0))


def _fault_of(name: str, node: Node, known: Entries) -> str:
    """What is wrong with an operator's text by itself; "" if nothing is."""
    if isinstance(node, ast.Term):
        return ""
    if name not in known:
        return f"there is no text {name}"
    if node.value is None:
        return f"{name} has no text"
    used, usual = used_in(node), used_in(node_of(known[name]))
    if unknown := used.variables - usual.variables - _variables_elsewhere(name):
        return f"{name} has no variable ${min(unknown)}"
    if unknown := used.elements - usual.elements:
        return f"{name} has no element <{min(unknown)}>"
    return ""


def _fault_when_used(name: str, node: Node, entries: Entries) -> str:
    """What is wrong with an operator's text, one of the entries, beside the others; "" if nothing is."""
    if isinstance(node, ast.Term):
        return ""
    try:
        Words(DEFAULT, entries)(name, **dict.fromkeys(used_in(node).variables, 1))  # with any values
    except RecursionError:
        return f"{name} refers to itself"
    except (FluentFormatError, LookupError) as error:
        return f"{name}: {error}"
    return ""


def _variables_elsewhere(name: str) -> set[str]:
    """The variables that a text has in other built-in languages: in English the server itself says why it refuses."""
    others = [built_in_entries(code).get(name) for code in built_in() if code != DEFAULT]
    return {variable for other in others if other for variable in used_in(node_of(other)).variables}


def _line(source: str, position: int) -> int:
    return source.count("\n", 0, position) + 1
