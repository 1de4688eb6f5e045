"""Real servers for tests: each on 127.0.0.1, on a free port, with a temporary folder of its own."""

from .jsmpp import Jsmpp
from .kafka import Kafka
from .mariadb import MariaDb
from .packages import python_packages
from .postgres import Postgres
from .process import CallFailed, StartFailed, Unavailable
from .redis import Redis, RedisCluster
from .smsc import Smsc
from .temporal import Temporal

__all__ = ["CallFailed", "Jsmpp", "Kafka", "MariaDb", "Postgres", "Redis", "RedisCluster", "Smsc", "StartFailed",
           "Temporal", "Unavailable", "python_packages"]
