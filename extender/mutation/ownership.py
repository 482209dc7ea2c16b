"""Owner of a pod or a template of pods: the caller, as ``add-user-info`` writes it (ID-1)."""

import msgspec

from extender.mutation.review import BadReview, Caller, Change, Request, escaped
from extender.wire.translate import USER_INFO

_COPYISTS = "system:serviceaccount:kube-system:"
_CONTROLLER_MANAGER = "system:kube-controller-manager"
_NOTHING = msgspec.Raw(b"")
_IN_JSON = {ord('"'): '\\"', ord("\\"): "\\\\"} | {code: f"\\u{code:04x}" for code in range(0x20)}


class _Metadata(msgspec.Struct):
    annotations: dict[str, str] | None = None


class _Template(msgspec.Struct):
    metadata: _Metadata | None = None


class _OfTemplate(msgspec.Struct):
    template: msgspec.Raw = _NOTHING


class _Job(msgspec.Struct):
    spec: _OfTemplate = msgspec.field(default_factory=_OfTemplate)


class _Spec(msgspec.Struct, rename="camel"):
    template: msgspec.Raw = _NOTHING
    job_template: _Job = msgspec.field(default_factory=_Job)


class _Workload(msgspec.Struct):
    spec: _Spec = msgspec.field(default_factory=_Spec)


_WORKLOAD = msgspec.json.Decoder(_Workload | None)
_TEMPLATE = msgspec.json.Decoder(_Template)


def is_copyist(caller: Caller) -> bool:
    """True for controllers of the cluster, which compare what they made with its template."""
    return caller.username.startswith(_COPYISTS) or caller.username == _CONTROLLER_MANAGER


def own_info(caller: Caller) -> str:
    """Annotation that names a caller and its groups."""
    groups = ",".join(_quoted(each) for each in caller.groups or ())
    return f'{{"user":{_quoted(caller.username)},"groups":[{groups}]}}'


def _quoted(name: str) -> str:
    return f'"{name.translate(_IN_JSON)}"'


def owner_changes(request: Request) -> list[Change]:
    """Changes that name the owner of a workload's template. Raises `BadReview`."""
    if is_copyist(request.user_info):
        return []
    try:
        return _changes(request)
    except (msgspec.MsgspecError, RecursionError, UnicodeError):
        raise BadReview("the object under review has no template of pods") from None


def _changes(request: Request) -> list[Change]:
    place = "/spec/jobTemplate/spec/template" if request.plural == "cronjobs" else "/spec/template"
    new, old = _template(request.plural, request.object), _template(request.plural, request.old_object)
    if new == _NOTHING:
        return []
    metadata = _TEMPLATE.decode(new).metadata
    annotations = metadata.annotations if metadata else None
    if annotations and USER_INFO in annotations:
        return []
    value = _owner_of(old)
    if value is None:
        # An API server writes equal templates as equal bytes.
        if new == old:
            return []
        value = own_info(request.user_info)
    changes = [] if metadata else [Change(f"{place}/metadata", {})]
    changes += [] if annotations is not None else [Change(f"{place}/metadata/annotations", {})]
    return [*changes, Change(f"{place}/metadata/annotations/{escaped(USER_INFO)}", value)]


def _template(plural: str, thing: msgspec.Raw) -> msgspec.Raw:
    """Template of a workload as it was sent, or `_NOTHING`."""
    workload = _WORKLOAD.decode(thing)
    if workload is None:
        return _NOTHING
    of_jobs: _OfTemplate = workload.spec.job_template.spec
    return of_jobs.template if plural == "cronjobs" else workload.spec.template


def _owner_of(template: msgspec.Raw) -> str | None:
    """Owner that a template names, or None."""
    metadata = _TEMPLATE.decode(template).metadata if template != _NOTHING else None
    return (metadata.annotations or {}).get(USER_INFO) if metadata else None
