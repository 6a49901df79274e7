"""The engine of the screen: a process of its own that loads players, thinks and analyses."""
