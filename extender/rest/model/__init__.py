"""Answers of the REST interface, with one Struct for each kind of object. No rules live here."""
