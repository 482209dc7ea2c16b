"""Flags of ``paddock serve`` that say which certificates are used."""

import argparse

from extender.certificates.keeper import SECRETS
from extender.wire.names import is_object_name


def tls_files_from(arguments: argparse.Namespace) -> tuple[str, str, str] | None:
    """Return the files of certificate, key and client authority, or None.

    Raises ValueError unless all three are set.
    """
    files = (arguments.tls_cert, arguments.tls_key, arguments.tls_client_ca)
    if not any(files):
        return None
    if not all(files):
        raise ValueError("--tls-cert, --tls-key and --tls-client-ca go together")
    return files


def client_secret_from(arguments: argparse.Namespace) -> str:
    """Return the name of kube-scheduler's Secret, or empty.

    Raises ValueError beside files, or for an unusable name.
    """
    name: str | None = arguments.tls_client_secret
    if name is None:
        return ""
    if arguments.tls_cert:
        raise ValueError("either --tls-client-secret, or --tls-cert, --tls-key and --tls-client-ca")
    if not is_object_name(name) or name in SECRETS:
        raise ValueError(f"--tls-client-secret: {name!r} is no name that this Secret may have")
    return name


def serving_files_from(arguments: argparse.Namespace) -> tuple[str, str, str] | None:
    """Return certificate, key and authority, which may be empty.

    Raises ValueError for one without the others.
    """
    certificate, key, authority = arguments.serving_cert, arguments.serving_key, arguments.serving_ca
    if not (certificate or key or authority):
        return None
    if not (certificate and key):
        raise ValueError("--serving-cert and --serving-key go together, and --serving-ca with both")
    return certificate, key, authority or ""
