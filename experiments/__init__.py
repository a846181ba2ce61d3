"""What is measured, and the committed results. Not part of the package that is installed."""
