// From what people set to what a client needs.
#pragma once

#include "base/result.h"
#include "engine/redis/client.h"
#include "store/redis/redis_store.h"

namespace penstock::store::redis {

// `invalid` naming the option. Does not look at certificates.
Result<ClientOptions> plain_client_options(const RedisOptions& options);

// With the certificates that a rediss:// URL needs.
Result<ClientOptions> client_options(const RedisOptions& options);

}  // namespace penstock::store::redis
