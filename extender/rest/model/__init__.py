"""Answers of the REST interface: one Struct per kind of object. No rules live here."""
