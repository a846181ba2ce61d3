"""Tests of `smartrag.models`; a package so that they can share their fakes."""
