// Hands usage to an OpenSearch by its bulk interface: the target of service::UsagePush.
#pragma once

#include "base/result.h"
#include "daemon/config/config.h"
#include "service/gateway/usage_push.h"

namespace penstock::daemon {

// `invalid` when the URL or the certificates cannot be used. Connects with the first batch.
Result<service::BulkTarget> make_opensearch_target(const UsageExportConfig& config);

}  // namespace penstock::daemon
