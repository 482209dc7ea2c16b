"""The repository keeps the rules of the language, without exceptions."""

from pathlib import Path

from tests.architecture.reading.sources import Source
from tests.language.findings import breaches_in, every_breach
from tests.language.texts import every_section

MODULE = '''"""It waits."""

{field} Whether it waits.
free_room = 1


def wait():
    """Wait. {long} end."""
'''

PAGE = """# Queues

It is a queue. kube-scheduler waits; it asks; it is refused.
"""


def test_names_docstrings_and_documents_keep_the_rules() -> None:
    assert [str(each) for each in every_breach()] == []


def test_planted_breaches_of_each_rule_are_found(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_text(PAGE)
    planted = Source("core.a", MODULE.format(field="#:", long="Pods " + "and " * 24))
    found = breaches_in([planted], every_section(tmp_path))
    assert [(each.kind, each.module, each.name) for each in found] == [
        ("name", "core.a", "free_room"),
        ("begins", "core.a", "-"),
        ("long", "core.a", "wait"),
        ("begins", "core.a", "#:free_room"),
        ("begins", "a.md", "queues"),
        ("chain", "a.md", "queues"),
    ]
