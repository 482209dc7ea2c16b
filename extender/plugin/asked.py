"""Options that every command has, as one value."""

from dataclasses import dataclass, field


@dataclass(slots=True)
class Asked:
    """Options of one call of a command."""

    #: Namespace; empty for the one of the kubeconfig.
    namespace: str = ""
    #: True for all namespaces.
    all_namespaces: bool = False
    #: Arguments for kubectl: its context, credentials and timeout.
    kubectl: list[str] = field(default_factory=list)
    #: URL of a server that is asked without kubectl; empty for none.
    server: str = ""
    #: Namespace of Paddock, where its pods are searched for; empty for all.
    own_namespace: str = ""
    #: ``table``, ``wide``, ``json``, ``yaml``, ``name`` or ``jsonpath=…``.
    output: str = "table"
    #: True to leave out the header of tables.
    no_headers: bool = False
    #: Column by which rows are sorted; empty for the order of the server.
    sort_by: str = ""
    #: True to print again every two seconds.
    watch: bool = False
    #: True for amounts in base units.
    raw_units: bool = False
    #: ``auto``, ``always`` or ``never``.
    color: str = "auto"
    #: True for more details.
    verbose: bool = False
