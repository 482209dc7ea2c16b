"""Take Paddock out of a cluster, so that nothing of it holds a pod or a namespace back."""
