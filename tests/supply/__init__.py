"""Pins, hashes and licences of the installed packages."""
