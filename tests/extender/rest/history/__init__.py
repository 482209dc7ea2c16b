"""Tests of the past of queues."""
