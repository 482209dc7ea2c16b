"""The cluster side: the connection to the API server, what is watched there, and the effects carried out."""
