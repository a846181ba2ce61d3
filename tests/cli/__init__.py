"""Tests of `smartrag.cli`; a package so that they can share their fakes."""
