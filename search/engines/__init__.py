"""Programs that speak the Gomocup protocol, as players."""
