"""The shell around the core: sockets, watches, clocks, files and the command line.

``cli`` is the command `paddock`, ``app`` the server of `paddock serve`, and ``demo`` that of `paddock demo`.
The folders, from the outside inwards:

``http`` serves the verbs and the admin port. ``kube`` watches the cluster and acts on it.
``verbs`` answers kube-scheduler. ``engine`` owns the ledger and runs its work.
``configuration`` reads ConfigMaps, files and flags, and applies them.
``queueconfig`` reads queue documents. ``checking`` is the command `paddock check`.
``wire`` translates between bytes and values of the core.
``mutation`` changes new pods, and ``certificates`` keeps the serving certificate.
``host`` has services of the machine and the process.
``views`` and ``telemetry`` show people what happened.
``simulator`` runs scenarios without a cluster.
"""
