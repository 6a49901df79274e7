"""The Gomocup protocol, on the engine's side."""
