// The connections of one node to PostgreSQL.
#pragma once

#include "store/connection_pool.h"
#include "store/postgres/connection.h"

namespace penstock::store::postgres {

using Pool = ConnectionPool<Connection>;

}  // namespace penstock::store::postgres
