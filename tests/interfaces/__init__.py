"""The outward interfaces of Paddock, read from the product itself and compared with one file per kind.

The files below ``golden`` say what users, scripts, dashboards and kube-scheduler rely on. A new name comes
beside the old ones: ``python -m tests.interfaces`` adds it. A line that is gone or that reads differently is
a breaking change. The command refuses it, unless ``--drop`` says that the change is meant.
"""
