"""Text that means harm, runs that hold it wherever a text can stand, and a watch that tells when one took effect."""
