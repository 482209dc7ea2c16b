"""Health of the scheduler (REST-11). Member names begin with capitals."""

from extender.rest.model.answer import Answer


class HealthCheck(Answer, frozen=True, kw_only=True, rename="pascal"):
    """Result of one check."""

    #: Name of the check.
    name: str = ""
    #: True if nothing was found.
    succeeded: bool
    #: Subject of the check.
    description: str = ""
    #: Finding of a check that failed.
    diagnosis_message: str = ""


class Health(Answer, frozen=True, kw_only=True, rename="pascal"):
    """All checks of the last round."""

    #: True if all have succeeded.
    healthy: bool
    #: The checks, in the order of REST-11, then those of Paddock.
    health_checks: tuple[HealthCheck, ...] = ()
