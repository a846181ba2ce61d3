"""Files in, documents out: one reader a format, and the decoding that they share.

`read` turns one file into a `Document` or raises `ReadError`; `find_files` lists what a folder
holds; `decode` is how bytes become text; `SUFFIXES` are the file names that have a reader.
"""

from smartrag.perception.readers.encoding import decode
from smartrag.perception.readers.files import SUFFIXES, find_files, read

__all__ = ["SUFFIXES", "decode", "find_files", "read"]
