// The connections of one node to MariaDB.
#pragma once

#include "engine/mariadb/connection.h"
#include "engine/sql/connection_pool.h"

namespace penstock::store::mariadb {

using Pool = ConnectionPool<Connection>;

}  // namespace penstock::store::mariadb
