#include "store/limits/mariadb/nodes.h"

#include <string>
#include <utility>

#include "engine/mariadb/query.h"

namespace penstock::store::mariadb {

Result<std::size_t> Nodes::beat(std::string_view node, Millis within) {
  const runtime::Deadline deadline(deadline_);
  auto lease = pool_.acquire(deadline);
  if (!lease) return std::unexpected(std::move(lease.error().error));
  // Each a transaction of its own, so that two nodes never wait for each other in a circle.
  const std::string statements[] = {Query(statement("beat_node")).bytes(node).text(),
                                    Query(statement("forget_nodes"))
                                        .number(std::int64_t{Micros{within}.count()})
                                        .bytes(node)
                                        .text(),
                                    Query(statement("count_nodes")).text()};
  const auto answers = (*lease)->run(statements, deadline);
  if (!answers) return std::unexpected(answers.error().error);
  return static_cast<std::size_t>(answers->back().number(0, 0));
}

Result<void> Nodes::leave(std::string_view node) {
  const runtime::Deadline deadline(deadline_);
  auto lease = pool_.acquire(deadline);
  if (!lease) return std::unexpected(std::move(lease.error().error));
  const auto left = (*lease)->run(Query(statement("leave_node")).bytes(node).text(), deadline);
  if (!left) return std::unexpected(left.error().error);
  return {};
}

}  // namespace penstock::store::mariadb
