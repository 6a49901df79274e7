"""The Gomocup protocol, spoken by the side that plays."""
