"""The outward interfaces of Paddock, read from the product itself and compared with one file per kind.

Users, scripts, dashboards and kube-scheduler rely on the contents of the files below ``golden``. New names
are added by ``python -m tests.interfaces``. A removed or changed line is a breaking change, which the command
refuses. ``--drop`` confirms that the change is intended.
"""
