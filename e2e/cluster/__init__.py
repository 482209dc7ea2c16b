"""A cluster as tests see it: a client, a watch, an onlooker, and what stands for kubelets and controllers."""
