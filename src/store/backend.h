// What a backend offers: a plain struct of optional ports. `compose` refuses to start, with one
// clear sentence, when a configured feature lacks its port.
#pragma once

#include <string>

#include "base/result.h"
#include "store/attempt_store.h"
#include "store/change_feed.h"
#include "store/delivery_store.h"
#include "store/item_feed.h"
#include "store/item_type_store.h"
#include "store/lease_store.h"
#include "store/limit_archive.h"
#include "store/limit_store.h"
#include "store/limit_sweep.h"
#include "store/node_registry.h"
#include "store/payment_rule_store.h"
#include "store/payment_store.h"
#include "store/policy_store.h"
#include "store/queue_store.h"
#include "store/quota_cache.h"
#include "store/quota_ledger.h"
#include "store/quota_store.h"
#include "store/retention_clock.h"
#include "store/send_keys.h"
#include "store/slot_config_store.h"
#include "store/slot_life.h"
#include "store/slot_retention.h"
#include "store/slot_store.h"
#include "store/usage_export.h"

namespace penstock::store {

// Whether the engine behind the ports can do work now. Thread-safe, cheap, never blocks for long.
class StoreHealth {
 public:
  virtual ~StoreHealth() = default;
  virtual Result<void> check() = 0;
  // What somebody should know although the engine works, such as damage that a reader met; empty
  // when there is nothing. Stays until the process ends.
  virtual std::string note() { return {}; }
};

struct Backend {
  std::string name;  // "embedded", "postgres", …
  StoreHealth* health = nullptr;
  SlotStore* slots = nullptr;
  SlotConfigStore* slot_configs = nullptr;
  SlotRetention* slot_retention = nullptr;
  SlotLife* slot_life = nullptr;
  ChangeFeed* changes = nullptr;  // only of a store that nodes share
  LimitStore* limits = nullptr;
  PolicyStore* policies = nullptr;
  LimitArchive* limit_archive = nullptr;  // for limits that live in memory
  LimitSweep* limit_sweep = nullptr;      // only of an engine that does not forget by itself
  NodeRegistry* nodes = nullptr;          // only of a store that nodes share
  QueueStore* queue = nullptr;
  LeaseStore* leases = nullptr;
  ItemTypeStore* item_types = nullptr;
  ItemFeed* item_feed = nullptr;  // only of a store that nodes share
  PaymentStore* payments = nullptr;
  PaymentRuleStore* payment_rules = nullptr;
  QuotaStore* quotas = nullptr;
  DeliveryStore* deliveries = nullptr;
  UsageExport* usage_export = nullptr;
  AttemptStore* attempts = nullptr;
  SendKeys* send_keys = nullptr;
  RetentionClock* retention_clock = nullptr;
  QuotaLedger* quota_ledger = nullptr;  // only of a store that nodes share
  QuotaCache* quota_cache = nullptr;    // only of one that may forget
};

}  // namespace penstock::store
