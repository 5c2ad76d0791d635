"""Programs in real time: what they do is told to `zoocheck serve`, by HTTP, which judges it.

    python -m zoocheck_live lock.py:worker      one client process, started by `zoocheck drive`
    from zoocheck_live.serve import Serve       an ensemble for a test, which fails on demand
    pytest_plugins = ["zoocheck_live.fixture"]  the same as a fixture of pytest
"""
