"""Processes that die at every write and POST, and what is told in the end."""
