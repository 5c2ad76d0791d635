"""A fixture of pytest: `pytest_plugins = ["zoocheck_live.fixture"]` in conftest.py.

    @pytest.mark.zoocheck(promises=["fair-lock=/lock"], servers=3)
    def test_lock(zoocheck):
        ...
        zoocheck.assert_held()
"""

import pytest

from zoocheck_live.serve import Serve


def pytest_configure(config):
    config.addinivalue_line("markers", "zoocheck(promises, servers, tick_ms): what the fixture serves, and what is owed")


@pytest.fixture
def zoocheck(request):
    """An ensemble for this test. It is ended with it."""
    marker = request.node.get_closest_marker("zoocheck")
    with Serve(**(marker.kwargs if marker else {})) as serve:
        yield serve
