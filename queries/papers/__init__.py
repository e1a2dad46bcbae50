"""The sources' own classes, classifiers and tables, from which the embedded predictions are made.

``python -m papers`` in this folder makes predictions again; it needs the extra `sklearn`.
"""
