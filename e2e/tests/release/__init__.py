"""Tests of the release of `make release-check`: its image started, validated and copied, and its chart."""
