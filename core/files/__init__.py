"""Files from outside and files for others: whole or absent, within limits, and errors that name them."""
