"""What is installed: pins, hashes, licences."""
