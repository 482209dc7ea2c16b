"""Arguments of the command. Every command builds the parser, so all else is imported when this one runs."""

import argparse
import asyncio
import sys

from core.errors import PaddockError


def add_uninstall(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `paddock uninstall`."""
    parser.set_defaults(run=_uninstall)
    parser.add_argument("--kubeconfig", metavar="FILE", help="access to the cluster (default: $KUBECONFIG)")
    parser.add_argument(
        "--namespace",
        metavar="NAME",
        default="paddock-system",
        help="namespace of the installation (default: %(default)s)",
    )
    parser.add_argument("--yes", action="store_true", help="carry the plan out instead of printing it only")
    parser.add_argument("--purge", action="store_true", help="delete the ConfigMaps with the queues, too")
    parser.add_argument(
        "--scheduler-restored",
        action="store_true",
        help="the cluster's kube-scheduler no longer calls Paddock (modes service and kubeadm)",
    )


def _uninstall(arguments: argparse.Namespace) -> int:
    """Run `paddock uninstall`. Exit code 0 if nothing is left to do, 1 otherwise."""
    from extender.removal.command import Wish, uninstall

    wish = Wish(
        arguments.kubeconfig,
        arguments.namespace,
        act=arguments.yes,
        purge=arguments.purge,
        scheduler_restored=arguments.scheduler_restored,
    )
    try:
        done = asyncio.run(uninstall(wish, lambda line: print(line, flush=True)))
    except PaddockError as error:
        print(f"paddock uninstall: {error}", file=sys.stderr)
        return 1
    return 0 if done else 1
