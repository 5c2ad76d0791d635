pytest_plugins = ["zoocheck_live.fixture"]
