"""Settings as flags: every help text names the type, the key and the default."""

import argparse
from functools import partial

import pytest

from extender.configuration.flags import add_settings, default_of, metavar_of
from extender.configuration.settings import Settings
from extender.configuration.values import one_of


def help_text() -> str:
    # Wide enough that no word is broken.
    formatter = partial(argparse.HelpFormatter, width=1_000)
    parser = argparse.ArgumentParser(prog="p", formatter_class=formatter)
    add_settings(parser)
    return " ".join(parser.format_help().split())


@pytest.mark.parametrize("name", sorted(Settings.model_fields))
def test_every_setting_says_what_it_is(name: str) -> None:
    field = Settings.model_fields[name]
    assert field.description
    assert metavar_of(name) != ""
    shown = " ".join(f"--{name.replace('_', '-')} {metavar_of(name)}".split())
    assert shown in help_text()
    assert f"[{field.alias}] (default: {default_of(name) or 'empty'}" in help_text()


@pytest.mark.parametrize(
    ("name", "metavar", "default"),
    [
        ("turn_lease", "DURATION", "2s"),
        ("mark_failed", "true|false", "false"),
        ("preemption_victims", "minimal|yunikorn", "minimal"),
        ("scheduler_names", "NAME[,NAME]", "paddock,yunikorn"),
        ("gang_template", "PARTS", "tolerations=any,labels=originator,annotations=originator"),
        ("gang_max_pods", "NUMBER", "10000"),
        ("lease", "NAMESPACE/NAME", ""),
    ],
)
def test_a_type_and_a_default(name: str, metavar: str, default: str) -> None:
    assert (metavar_of(name), default_of(name)) == (metavar, default)


def test_a_setting_that_needs_a_restart_says_so() -> None:
    assert "(default: 100s, changed only by a restart)" in help_text()


def test_a_word_that_is_no_choice_is_refused() -> None:
    with pytest.raises(ValueError, match="must be a or b"):
        one_of("a", "b").func("c")
