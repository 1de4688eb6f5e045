// The connections of one node to PostgreSQL.
#pragma once

#include "engine/postgres/connection.h"
#include "engine/sql/connection_pool.h"

namespace penstock::store::postgres {

using Pool = ConnectionPool<Connection>;

}  // namespace penstock::store::postgres
