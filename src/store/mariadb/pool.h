// The connections of one node to MariaDB.
#pragma once

#include "store/connection_pool.h"
#include "store/mariadb/connection.h"

namespace penstock::store::mariadb {

using Pool = ConnectionPool<Connection>;

}  // namespace penstock::store::mariadb
