"""A cluster as tests see it: a client, a watch, an observer, and stand-ins for kubelets and controllers."""
