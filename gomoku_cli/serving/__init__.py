"""The board in a browser: a server for its pages, and a board of its own behind each page."""
