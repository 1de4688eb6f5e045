#include "store/queue/embedded/embedded_leases.h"

#include <rocksdb/write_batch.h>

#include <mutex>
#include <string>
#include <utility>

#include "engine/rocksdb/cursor.h"

namespace penstock::store::embedded {

Result<LeaseRecord> EmbeddedLeases::read(const ItemType& type) {
  const Result<Engine::View> view = writer_.engine.view();
  if (!view) return std::unexpected(view.error());
  std::string value;
  const rocksdb::Status status = view->db().Get(
      rocksdb::ReadOptions(), view->family(Family::queue_state), lease_key(type), &value);
  if (status.IsNotFound()) return LeaseRecord{};
  if (!status.ok()) return std::unexpected(view->translate(status, "read a lease"));
  Result<LeaseRecord> lease = decode_lease(value);
  if (!lease) return std::unexpected(view->in_folder(std::move(lease.error())));
  return lease;
}

Result<void> EmbeddedLeases::write(const ItemType& type, const LeaseRecord& lease) {
  const Result<Engine::View> view = writer_.engine.view();
  if (!view) return std::unexpected(view.error());
  rocksdb::WriteBatch batch;
  const rocksdb::Status status =
      batch.Put(view->family(Family::queue_state), lease_key(type), encode_lease(lease));
  if (!status.ok()) return std::unexpected(view->translate(status, "write"));
  return writer_.engine.commit(batch);
}

Result<std::optional<Lease>> EmbeddedLeases::acquire(const LeaseRequest& request,
                                                     std::optional<Instant> now) {
  const std::lock_guard lock(writer_.mutex);
  if (Result<void> ready = writer_.ready(); !ready) return std::unexpected(ready.error());
  Result<LeaseRecord> held = read(request.type);
  if (!held) return std::unexpected(std::move(held.error()));
  const Instant moment = now.value_or(writer_.clock.now());
  const bool fresh = held->node != request.node;
  if (fresh && !held->node.empty() && moment < held->until) return std::nullopt;
  if (fresh) {
    ++held->token;
  } else {
    held->paused_until = request.paused_until;
  }
  held->node = request.node;
  held->until = moment + request.term;
  if (Result<void> written = write(request.type, *held); !written) {
    return std::unexpected(std::move(written.error()));
  }
  return Lease{.token = held->token, .fresh = fresh, .paused_until = held->paused_until};
}

Result<void> EmbeddedLeases::release(const ItemType& type, std::string_view node) {
  const std::lock_guard lock(writer_.mutex);
  if (Result<void> ready = writer_.ready(); !ready) return ready;
  Result<LeaseRecord> held = read(type);
  if (!held) return std::unexpected(std::move(held.error()));
  if (held->node.empty() || held->node != node) return {};
  held->node.clear();  // the token stays: the next one is larger
  return write(type, *held);
}

Result<void> EmbeddedLeases::end_all() {
  rocksdb::WriteBatch batch;
  {
    const Result<Engine::View> view = writer_.engine.view();
    if (!view) return std::unexpected(view.error());
    const std::string leases(1, kLeaseTag);
    Cursor rows(*view, Family::queue_state, leases, behind(leases));
    for (; rows.valid(); rows.next()) {
      Result<LeaseRecord> held = decode_lease(rows.value());
      if (!held) return std::unexpected(view->in_folder(std::move(held.error())));
      if (held->node.empty()) continue;
      held->node.clear();
      const rocksdb::Status status =
          batch.Put(view->family(Family::queue_state), slice(rows.key()), encode_lease(*held));
      if (!status.ok()) return std::unexpected(view->translate(status, "write"));
    }
    if (Result<void> status = rows.status(); !status) return status;
  }
  if (batch.Count() == 0) return {};
  return writer_.engine.commit(batch);
}

Result<LeaseView> EmbeddedLeases::view(const ItemType& type, std::optional<Instant> now) {
  Result<LeaseRecord> held = read(type);
  if (!held) return std::unexpected(std::move(held.error()));
  LeaseView view{.holder = std::nullopt, .paused_until = held->paused_until};
  if (!held->node.empty() && now.value_or(writer_.clock.now()) < held->until) {
    view.holder = std::move(held->node);
  }
  return view;
}

}  // namespace penstock::store::embedded
