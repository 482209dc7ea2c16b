"""YuniKorn's series, as Prometheus reads them."""
