"""Scripts of the page: each can be parsed, and what it imports is exported."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
import tree_sitter_javascript
from tree_sitter import Language, Node, Parser

STATIC = Path("extender/page/static")
SCRIPTS = sorted(STATIC.rglob("*.js"))
OWN = [each for each in SCRIPTS if "vendor" not in each.parts]
ALL = "*"
_PARSER = Parser(Language(tree_sitter_javascript.language()))


def parsed(text: str) -> Node:
    return _PARSER.parse(text.encode()).root_node


def faults(root: Node) -> list[int]:
    """Lines at which something is wrong or missing."""
    return [each.start_point[0] + 1 for each in _below(root) if each.is_error or each.is_missing]


def _below(node: Node) -> Iterator[Node]:
    yield node
    for each in node.children:
        yield from _below(each)


def _text(node: Node | None) -> str:
    return node.text.decode() if node is not None and node.text is not None else ""


def imports(root: Node) -> Iterator[tuple[str, str]]:
    """File and name of each import. `ALL` for a whole module, ``default`` for its main value."""
    for statement in root.children:
        if statement.type != "import_statement":
            continue
        source = _text(statement.child_by_field_name("source")).strip("'\"")
        for node in _below(statement):
            if node.type == "import_specifier":
                yield source, _text(node.child_by_field_name("name"))
            elif node.type == "namespace_import":
                yield source, ALL
            elif (
                node.type == "identifier" and node.parent is not None and node.parent.type == "import_clause"
            ):
                yield source, "default"


def exports(root: Node) -> Iterator[str]:
    """Names that a module exports."""
    yield ALL
    for statement in root.children:
        if statement.type != "export_statement":
            continue
        if any(each.type == "default" for each in statement.children):
            yield "default"
        for node in _below(statement):
            if node.type == "export_specifier":
                yield _text(node.child_by_field_name("alias") or node.child_by_field_name("name"))
        declared = statement.child_by_field_name("declaration")
        if declared is not None:
            yield from _declared(declared)


def _declared(node: Node) -> Iterator[str]:
    named = [node, *(each for each in node.children if each.type == "variable_declarator")]
    yield from (name for each in named if (name := _text(each.child_by_field_name("name"))))


@cache
def exported(path: Path) -> frozenset[str]:
    return frozenset(exports(parsed(path.read_text())))


def unknown_imports(path: Path, text: str) -> list[str]:
    """Imports of names that their module does not export."""
    return [
        f"{source} {name}"
        for source, name in imports(parsed(text))
        if name not in exported((path.parent / source).resolve().relative_to(Path.cwd()))
    ]


@pytest.mark.parametrize("path", SCRIPTS, ids=lambda path: path.name)
def test_a_script_can_be_parsed(path: Path) -> None:
    assert faults(parsed(path.read_text())) == []


@pytest.mark.parametrize("path", OWN, ids=lambda path: path.name)
def test_what_a_script_imports_is_exported(path: Path) -> None:
    assert unknown_imports(path, path.read_text()) == []


@pytest.mark.parametrize(
    "planted",
    [
        "export const text = 'the queue's max';\n",
        "const rows = [1, 2;\n",
        "html`<p>${value</p>`;\n",
        "if (a {}\n",
    ],
)
def test_a_planted_mistake_is_found(planted: str) -> None:
    """Such an apostrophe once broke all views."""
    assert faults(parsed(planted))


def test_a_planted_import_of_a_name_that_there_is_not_is_found() -> None:
    text = "import { html, nothing } from '../html.js';\nimport * as all from '../html.js';\n"
    assert unknown_imports(STATIC / "views" / "why.js", text) == ["../html.js nothing"]
