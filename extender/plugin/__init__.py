"""The command `kubectl paddock`: reads of the aggregated API, printed for people and programs.

Only the standard library, typer, rich and `core` are imported. The server's libraries may be absent.
"""
