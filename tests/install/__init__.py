"""Every way to get and start the program, from empty folders."""
