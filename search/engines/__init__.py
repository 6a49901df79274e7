"""Other programs as players, by the Gomocup protocol."""
