"""YuniKorn's REST interface over HTTP: requests read, replies sent, and what both may cost."""
