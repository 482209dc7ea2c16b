"""The shell around the core: sockets, watches, clocks, files, the command line.

``cli`` is the command `paddock`, ``app`` the server of `paddock serve`, ``demo`` the show of `paddock demo`.
The folders, from the border inwards:

``http`` serves the verbs and the admin port. ``kube`` watches the cluster and acts on it.
``verbs`` answers kube-scheduler. ``engine`` owns the ledger and runs its work.
``configuration`` leads ConfigMaps, files and flags to what is in force.
``queueconfig`` reads queue documents. ``checking`` is the command `paddock check`.
``wire`` translates between bytes and values of the core.
``host`` is what the machine and the process know.
``views`` and ``telemetry`` show people what happened.
``simulator`` plays scenarios without a cluster.
"""
