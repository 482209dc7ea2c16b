"""All errors and warnings about a configuration, for ``paddock check``. Pure.

A configuration is a queue document, a manifest with ConfigMaps or a KubeSchedulerConfiguration.
"""

import difflib
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

from extender.checking.manifest import Manifest, manifest_from
from extender.checking.scheduler_config import findings_of
from extender.configuration.settings import KEYS, SettingsError, settings_from
from extender.configuration.sources import CONFIGS_NAME, checksum
from extender.queueconfig.load import DEFAULT_DOCUMENT, check_document
from extender.queueconfig.patterns import PatternError, name_pattern
from extender.queueconfig.problems import ConfigError, Problem, path_text, reported, shown
from extender.queueconfig.surprises.warnings import bounded, warnings_of
from extender.wire.service_keys import (
    PLACEHOLDER_FS_GROUP,
    PLACEHOLDER_GROUP,
    PLACEHOLDER_IMAGE,
    PLACEHOLDER_USER,
    POLICY_GROUP,
    SERVICE_KEYS,
    TRUE,
    int64_of,
    service_key,
)

_LARGEST_ID = 2**31 - 1
_ADMIN_ACL = "paddock.admin.acl"
_BUILT_IN = "paddock.config.builtinDefault"
_NO_DOCUMENT = f"Paddock waits for one at its start, and a running one keeps what it has; see {_BUILT_IN}"
_UNREADABLE = "is no base64 of gzip and counts as absent; pack it with gzip"
_EMPTIED = "sets an empty text: only a suffix .gz is unpacked; pack it with gzip, or put it in data"


@dataclass(frozen=True, slots=True)
class Verdict:
    """Result of a check. Each list is bounded, and its last entry says if there are more.

    ``problems``: errors, in YuniKorn's order of checks.
    ``warnings``: valid parts with an unexpected effect.
    Lines are those of the file. In a compressed or folded document, they are None.
    """

    name: str
    problems: tuple[Problem, ...]
    warnings: tuple[Problem, ...] = ()

    @property
    def right(self) -> bool:
        """True without errors."""
        return not self.problems


def check_text(text: bytes, *, name: str) -> Verdict:
    """Check a configuration. Never raises: a text that cannot be parsed has that as its error."""
    try:
        scheduler = findings_of(text)
        manifest = manifest_from(text) if scheduler is None else None
    except ConfigError as error:
        return Verdict(name, error.problems)
    if scheduler is not None:
        return Verdict(name, reported(scheduler.problems), bounded(scheduler.warnings))
    if manifest is None:
        return Verdict(name, check_document(text), warnings_of(text))
    flat, lines = manifest.flat, _Lines(text, manifest)
    document = flat.queues_text if flat.has_document else DEFAULT_DOCUMENT
    problems = chain(manifest.problems, lines.placed(check_document(document)), _refused_values(manifest))
    warnings = chain(
        lines.placed(warnings_of(document, acts_by_acl=flat.settings.get(_ADMIN_ACL) in TRUE)),
        _surprising_keys(manifest),
        _unfit_for_placeholders(manifest),
    )
    return Verdict(name, reported(problems), bounded(warnings))


class _Lines:
    """Translation of line numbers of a document into those of the manifest around it."""

    def __init__(self, text: bytes, manifest: Manifest) -> None:
        self._file = text.decode("utf-8", "replace").split("\n")
        self._document = manifest.flat.queues_text.split("\n")
        place = manifest.places.get(manifest.flat.document_key)
        self._above = place.line if place else None

    def placed(self, found: Iterable[Problem]) -> Iterator[Problem]:
        """Replace the lines of findings."""
        return (replace(each, line=self._line(each.line)) for each in found)

    def _line(self, line: int | None) -> int | None:
        """Line in the manifest, or None unless that line has the text of the document's line."""
        if line is None or self._above is None or not 0 < line <= len(self._document):
            return None
        there = self._above + line
        same = there <= len(self._file) and self._file[there - 1].strip() == self._document[line - 1].strip()
        return there if same else None


def _refused_values(manifest: Manifest) -> Iterator[Problem]:
    try:
        settings_from(manifest.flat.settings, {})
    except SettingsError as error:
        for key, why in error.wrong.items():
            yield _at(manifest, key, "SRC-5", why)


def _at(manifest: Manifest, key: str, rule: str, message: str) -> Problem:
    place = manifest.places.get(key)
    if place is None:
        return Problem(path_text(("data", key)), rule, message)
    return Problem(place.path, rule, message, place.line)


def _surprising_keys(manifest: Manifest) -> Iterator[Problem]:
    """Warnings about entries of ConfigMaps without effect (SRC-2 to SRC-4)."""
    flat, reported_paths = manifest.flat, set()
    if not flat.has_document and flat.settings.get(_BUILT_IN) not in TRUE:
        yield Problem("", "SRC-3", f"there is no document under {flat.document_key}: {_NO_DOCUMENT}")
    for keys, message in ((flat.unreadable, _UNREADABLE), (flat.emptied, _EMPTIED)):
        for key in keys:
            path = path_text(("binaryData", key))
            reported_paths.add(path)
            yield Problem(path, "SRC-2", message)
    for key, place in manifest.places.items():
        if place.path in reported_paths or key in KEYS or key == flat.document_key:
            continue
        if key in flat.settings:
            yield from _without_effect(manifest, key)
        else:
            message = f"is not read: the document is {flat.document_key}, as {POLICY_GROUP} says"
            yield _at(manifest, key, "SRC-3", message)


def _without_effect(manifest: Manifest, key: str) -> Iterator[Problem]:
    known = service_key(key)
    if known is None:
        close = difflib.get_close_matches(key[:80], (*KEYS, *SERVICE_KEYS), n=1)
        hint = f"did you mean {close[0]}" if close else "it can be left out"
        yield _at(manifest, key, "SRC-5", f"nobody knows the key {shown(key)}, so it has no effect; {hint}")
    elif known.adopts:
        message = f"counts only where manifests/adopt is installed, and only in {CONFIGS_NAME}"
        yield _at(manifest, key, "POD-31", message)
        yield from _unfit_patterns(manifest, key)
    elif known.no_effect:
        yield _at(manifest, key, "SRC-4", f"has no effect here ({known.no_effect}); it can be left out")


def _unfit_patterns(manifest: Manifest, key: str) -> Iterator[Problem]:
    """Warnings about regular expressions that the policy of manifests/adopt cannot compile."""
    for pattern in manifest.flat.settings[key].split(",") if key.endswith("Namespaces") else ():
        try:
            name_pattern(pattern.strip())
        except PatternError as error:
            why = f"{shown(pattern.strip())} is no regular expression ({error}), so no pod is adopted"
            yield _at(manifest, key, "POD-31", why)


def _unfit_for_placeholders(manifest: Manifest) -> Iterator[Problem]:
    """Warnings about valid values with which the API server refuses placeholders (GANG-4)."""
    settings = manifest.flat.settings
    if settings.get(PLACEHOLDER_IMAGE) == "":
        yield _at(manifest, PLACEHOLDER_IMAGE, "GANG-3", "names no image, so every placeholder is refused")
    for key in (PLACEHOLDER_USER, PLACEHOLDER_GROUP, PLACEHOLDER_FS_GROUP):
        try:
            number = int64_of(settings.get(key, "0"))
        except ValueError:
            continue
        if not 0 <= number <= _LARGEST_ID:
            why = f"must be 0 to {_LARGEST_ID} in a pod, so every placeholder is refused"
            yield _at(manifest, key, "GANG-3", why)


# -- output --------------------------------------------------------------------------------------------------


def lines_of(verdict: Verdict) -> Iterator[str]:
    """Lines for people: each error, each warning, and a last line if there is no error."""
    for problem in verdict.problems:
        yield f"{verdict.name}: {problem}"
    for warning in verdict.warnings:
        yield f"{verdict.name}: warning: {warning}"
    if verdict.right:
        yield f"{verdict.name}: no problems{_counted(len(verdict.warnings))}"


def _counted(warnings: int) -> str:
    return f", {warnings} {'warning' if warnings == 1 else 'warnings'}" if warnings else ""


def json_of(verdicts: Sequence[Verdict]) -> str:
    """JSON of a single verdict as an object, or of several as a list."""
    objects = [_object(verdict) for verdict in verdicts]
    return json.dumps(objects[0] if len(objects) == 1 else objects, indent=2)


def _object(verdict: Verdict) -> dict[str, Any]:
    return {
        "name": verdict.name,
        "problems": [_fields(each) for each in verdict.problems],
        "warnings": [_fields(each) for each in verdict.warnings],
    }


def _fields(problem: Problem) -> dict[str, Any]:
    return {"path": problem.path, "rule": problem.rule, "message": problem.message, "line": problem.line}


# -- the admin port ------------------------------------------------------------------------------------------


def validation_of(text: bytes, *, active: str) -> dict[str, Any]:
    """Answer of ``POST /ws/v1/validate-conf`` (REST-10).

    ``active``: checksum of the document in force. As in YuniKorn, the rules of applying a document are not
    checked (SRC-11). The reason is the first error in YuniKorn's order.
    """
    problems = [each for each in check_document(text) if not each.rule.startswith("APPLY")]
    if problems:
        return {"allowed": False, "reason": problems[0].message.partition("; ")[0]}
    own = checksum(text.decode("utf-8", "replace"))
    return {"allowed": True, "checksum": own, "checksumMatch": own == active}
