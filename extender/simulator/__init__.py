"""Scenarios played without a cluster: the real Paddock, a played API server and a played kube-scheduler.

``scenario`` reads the files. ``cluster`` plays the API server and its controllers. ``scheduler`` plays
kube-scheduler. ``report`` records a run and shows it. The modules here join the four.
"""
