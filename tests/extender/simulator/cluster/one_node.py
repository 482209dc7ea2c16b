"""Common beginning of this folder's scenarios."""

HEAD = """\
apiVersion: paddock.dev/v1
kind: Scenario
name: s
config:
  partitions: [{name: default, queues: [{name: root, submitacl: "*", queues: [{name: a}]}]}]
cluster:
  nodes: [{name: n1, cpu: 8}]
"""
"""A document with one queue and one node. The rest of the cluster and the steps follow."""
