#include "store/queue/postgres/leases.h"

#include <string>
#include <utility>

#include "engine/postgres/calls.h"

namespace penstock::store::postgres {

Result<std::optional<Lease>> Leases::acquire(const LeaseRequest& request,
                                             std::optional<Instant> now) {
  const auto rows = run_call(pool_,
                             {.sql = statement("acquire_lease"),
                              .params = Params()
                                            .text(request.type.str())
                                            .text(request.node)
                                            .int8(std::int64_t{Micros{request.term}.count()})
                                            .int8(epoch_us(request.paused_until))
                                            .int8(epoch_us(now))},
                             runtime::Deadline(deadline_));
  if (!rows) return std::unexpected(rows.error());
  if (rows->size() == 0) return std::nullopt;
  return Lease{.token = static_cast<FencingToken>(rows->int8(0, 0)),
               .fresh = rows->boolean(0, 1),
               .paused_until = from_epoch_us(rows->int8(0, 2))};
}

Result<void> Leases::release(const ItemType& type, std::string_view node) {
  const auto rows = run_call(
      pool_, {.sql = statement("release_lease"), .params = Params().text(type.str()).text(node)},
      runtime::Deadline(deadline_));
  if (!rows) return std::unexpected(rows.error());
  return {};
}

Result<LeaseView> Leases::view(const ItemType& type, std::optional<Instant> now) {
  const auto rows = run_call(
      pool_,
      {.sql = statement("view_lease"), .params = Params().text(type.str()).int8(epoch_us(now))},
      runtime::Deadline(deadline_));
  if (!rows) return std::unexpected(rows.error());
  LeaseView view;
  if (rows->size() == 0) return view;
  if (!rows->null(0, 0)) view.holder = std::string(rows->text(0, 0));
  view.paused_until = from_epoch_us(rows->int8(0, 1));
  return view;
}

}  // namespace penstock::store::postgres
