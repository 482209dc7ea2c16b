"""YuniKorn's REST interface over HTTP: reading of requests, sending of replies, and limits on both."""
