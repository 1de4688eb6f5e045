#include "store/limits/postgres/nodes.h"

#include <utility>

namespace penstock::store::postgres {

Result<std::size_t> Nodes::beat(std::string_view node, Millis within) {
  const runtime::Deadline deadline(deadline_);
  auto lease = pool_.acquire(deadline);
  if (!lease) return std::unexpected(std::move(lease.error().error));
  const auto rows =
      (*lease)->run({.sql = statement("beat_node"),
                     .params = Params().text(node).int8(std::int64_t{Micros{within}.count()})},
                    deadline);
  if (!rows) return std::unexpected(rows.error().error);
  return static_cast<std::size_t>(rows->int8(0, 0));
}

Result<void> Nodes::leave(std::string_view node) {
  const runtime::Deadline deadline(deadline_);
  auto lease = pool_.acquire(deadline);
  if (!lease) return std::unexpected(std::move(lease.error().error));
  const auto left =
      (*lease)->run({.sql = statement("leave_node"), .params = Params().text(node)}, deadline);
  if (!left) return std::unexpected(left.error().error);
  return {};
}

}  // namespace penstock::store::postgres
