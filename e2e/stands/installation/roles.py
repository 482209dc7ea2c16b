"""Roles as the chart renders them, given to one account, with single verbs taken away while it runs."""

import copy
import itertools
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any

from e2e.cluster.client import Cluster, Object, path_of
from e2e.programs.helm import Case, render
from e2e.stands.stand import NAMESPACE, eventually
from e2e.tests.install.commands import IMAGES
from extender.kube.connection.rights import Right

GROUP = "rbac.authorization.k8s.io"
ROLES = ("ClusterRole", "Role")
BINDINGS = ("ClusterRoleBinding", "RoleBinding")
OF_PEOPLE = (
    *("paddock-viewer", "paddock-explanations", "paddock-simulations", "paddock-metrics"),
    "paddock-operator",
)
"""Roles that no binding of the chart gives to Paddock."""


def rendered_objects(values: Mapping[str, Any]) -> list[Object]:
    """All objects of the chart."""
    made = render([Case("one", {**IMAGES, **values})])["one"]
    assert not made.error, made.error
    return made.objects


def rights_of(things: Sequence[Object]) -> Iterator[Right]:
    """Each right that roles give to Paddock's account, again for each role that gives it."""
    for thing in things:
        if thing["kind"] in ROLES and thing["metadata"]["name"] not in OF_PEOPLE:
            for rule in thing["rules"]:
                yield from _rights_of_rule(rule)


def _rights_of_rule(rule: Object) -> Iterator[Right]:
    parts = itertools.product(rule["verbs"], rule["resources"], rule["apiGroups"])
    return (Right(*each) for each in parts)


@dataclass
class Roles:
    """Roles that are applied. ``user``: whom they are for, by the name of its token."""

    cluster: Cluster
    objects: Sequence[Object]
    user: str = "paddock"

    @property
    def things(self) -> list[Object]:
        """Roles, bindings and accounts among the objects."""
        kinds = ("ServiceAccount", *ROLES, *BINDINGS)
        return [each for kind in kinds for each in self.objects if each["kind"] == kind]

    async def apply(self) -> None:
        """Give the account these roles only: what other tests left would hide a missing right.

        Returns once they count. Paddock would report a right for long that it lacked as it started.
        """
        await self.cluster.ensure_namespace(NAMESPACE)
        await self._unbind()
        for thing in self.things:
            await self.cluster.apply(copy.deepcopy(thing))
        for thing in self.things:
            if thing["kind"] in ROLES and thing["metadata"]["name"] not in OF_PEOPLE:
                await eventually(partial(self._counts, thing), f"{thing['metadata']['name']} counts")

    async def _counts(self, thing: Object) -> bool:
        """True if the account has the last right of a role."""
        rule, namespace = thing["rules"][-1], thing["metadata"].get("namespace", NAMESPACE)
        *_, right = _rights_of_rule(rule)
        return not await self._lacks(right, rule.get("resourceNames", [""])[0], namespace)

    async def _unbind(self) -> None:
        for kind in BINDINGS:
            listed = await self.cluster.request("GET", f"/apis/{GROUP}/v1/{kind.lower()}s")
            for binding in listed["items"]:
                if any(each["name"] == "paddock" for each in binding.get("subjects", [])):
                    await self.cluster.request("DELETE", _path({**binding, "kind": kind}))

    async def delete(self) -> None:
        for thing in reversed(self.things):
            await self.cluster.request("DELETE", _path(thing))

    @asynccontextmanager
    async def without(
        self, right: Right, *, name: str = "", namespace: str = NAMESPACE
    ) -> AsyncIterator[None]:
        """Take a right from every role until the block ends.

        ``name``, ``namespace``: of an object to which the right applies.
        """
        touched = [each for each in self.things if each["kind"] in ROLES and right in rights_of([each])]
        assert touched, f"no role gives {right}"
        for thing in touched:
            await self.cluster.patch(_path(thing), {"rules": list(_less(thing["rules"], right))})
        await eventually(lambda: self._lacks(right, name, namespace), f"{right} is taken away")
        try:
            yield
        finally:
            for thing in touched:
                await self.cluster.patch(_path(thing), {"rules": thing["rules"]})

    async def _lacks(self, right: Right, name: str, namespace: str) -> bool:
        resource, _, part = right.resource.partition("/")
        asked = {"verb": right.verb, "group": right.group, "resource": resource, "subresource": part}
        body = {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SelfSubjectAccessReview",
            "spec": {"resourceAttributes": {**asked, "namespace": namespace, "name": name}},
        }
        path = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
        answer = await self.cluster.request("POST", path, body, user=self.user)
        return not answer["status"]["allowed"]


def _less(rules: list[Object], right: Right) -> Iterator[Object]:
    """The rules without one right. A rule that gives it is divided."""
    for rule in rules:
        if right not in _rights_of_rule(rule):
            yield rule
            continue
        for group in rule["apiGroups"]:
            for resource in rule["resources"]:
                lost = (resource, group) == (right.resource, right.group)
                verbs = [each for each in rule["verbs"] if not (lost and each == right.verb)]
                if verbs:
                    yield {**rule, "apiGroups": [group], "resources": [resource], "verbs": verbs}


def _path(thing: Object) -> str:
    meta = thing["metadata"]
    return path_of(thing["kind"], meta.get("namespace", ""), meta["name"])
