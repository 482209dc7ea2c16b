"""Samples of the past day (REST-28, REST-29)."""

from extender.rest.model.answer import Answer, Count, Nanoseconds


class ApplicationSample(Answer, frozen=True, kw_only=True):
    """Number of running applications at one minute."""

    #: Time of the sample.
    timestamp: Nanoseconds = 0
    #: Number of running applications.
    total_applications: Count = ""


class ContainerSample(Answer, frozen=True, kw_only=True):
    """Number of managed pods on nodes at one minute."""

    #: Time of the sample.
    timestamp: Nanoseconds = 0
    #: Number of pods.
    total_containers: Count = ""
