"""How SmartRAG is measured, by us and by anyone who has questions of their own.

`datasets` turns a file of questions into a pool of passages with gold labels, `metrics` holds the
formulas, and `results` writes what was found so that it can be repeated and checked.
"""
