"""`make matrix`: modules of other minor versions, and the table of results."""

import pytest

from e2e.matrix import result_of
from e2e.programs.binaries import NoBinary, kubernetes_flags
from e2e.programs.minors import module_text, versions

KUBERNETES = """\
module k8s.io/kubernetes

require k8s.io/api v0.0.0

replace (
	k8s.io/api => ./staging/src/k8s.io/api
	k8s.io/kubectl => ./staging/src/k8s.io/kubectl
)
"""
REPORT = """\
<testsuites><testsuite>
<testcase name="fits"/><testcase name="gate"><skipped/></testcase>
<testcase name="quota"><failure/></testcase><testcase name="bind"><error/></testcase>
</testsuite></testsuites>
"""


def test_staging_modules_are_those_that_the_version_names() -> None:
    text = module_text("v1.33.13", KUBERNETES)
    assert "require k8s.io/kubernetes v1.33.13\n" in text
    replaced = [line.strip() for line in text.splitlines() if "=>" in line]
    assert replaced == ["k8s.io/api => k8s.io/api v0.33.13", "k8s.io/kubectl => k8s.io/kubectl v0.33.13"]


def test_a_version_without_staging_modules_is_named() -> None:
    with pytest.raises(NoBinary, match=r"v1\.33\.13 names no staging modules"):
        module_text("v1.33.13", "module k8s.io/kubernetes\n")


def test_programs_of_a_version_carry_it() -> None:
    assert ".gitVersion=v1.33.13 " in kubernetes_flags("v1.33.13")
    assert "gitMinor=33" in kubernetes_flags("v1.33.13")


def test_versions_are_of_four_minors_in_order() -> None:
    minors = [int(each.split(".")[1]) for each in versions()]
    assert minors == list(range(minors[0], minors[0] + 4))


def test_a_row_names_what_failed() -> None:
    result = result_of("v1.33.13", REPORT, 61.0)
    assert result.row == "| v1.33.13 | 1 | 1 | quota, bind | 1:01 |"


def test_a_run_in_which_no_test_passed_has_failed() -> None:
    assert result_of("v1.33.13", "<testsuites/>", 1.0).failed == ("no test ran",)
