"""Health of Paddock (REST-11). Names of members begin with capitals."""

from extender.rest.model.answer import Answer


class HealthCheck(Answer, frozen=True, kw_only=True, rename="pascal"):
    """Result of one check."""

    #: Name of the check.
    name: str = ""
    #: True if the check found no fault.
    succeeded: bool
    #: Subject of the check.
    description: str = ""
    #: Fault that the check found.
    diagnosis_message: str = ""


class Health(Answer, frozen=True, kw_only=True, rename="pascal"):
    """All checks of the last round."""

    #: True if all checks succeeded.
    healthy: bool
    #: Checks in the order of REST-11, then Paddock's own.
    health_checks: tuple[HealthCheck, ...] = ()
