"""`python -m vpp.demo`: serve the demo model."""

from vpp.demo.server import main

if __name__ == "__main__":
    main()
