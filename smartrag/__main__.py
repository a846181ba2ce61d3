"""`python -m smartrag` is the command `smartrag`."""

from smartrag.cli import main

if __name__ == "__main__":
    main()
