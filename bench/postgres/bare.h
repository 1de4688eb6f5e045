// The limit: the same rows into the same table by a bare batched INSERT, and nothing else.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "workload.h"

namespace penstock::bench {

class BareInsert {
 public:
  BareInsert(const Database& database, const std::string& sql_folder, std::size_t connections)
      : text_(read_file(sql_folder + "/bare_insert.sql")), sql_{"bare_insert", text_.c_str()} {
    for (std::size_t i = 0; i < connections; ++i) connections_.push_back(database.connect());
  }

  void insert(std::size_t thread, const std::vector<SlotRequest>& requests) {
    std::vector<std::string_view> events;
    std::vector<std::int64_t> scheduled;
    for (const SlotRequest& request : requests) {
      events.emplace_back(request.event.str());
      scheduled.push_back(kStartMs + static_cast<std::int64_t>(request.entropy % 4'000));
    }
    must(connections_[thread]->run(Call{.sql = sql_,
                                        .params = Params()
                                                      .texts(events)
                                                      .int8(kStartMs)
                                                      .int8(kStartMs)
                                                      .int8(kStartMs * 1'000)
                                                      .int8s(scheduled)},
                                   kPatient));
  }

 private:
  const std::string text_;
  const SqlFile sql_;
  std::vector<std::unique_ptr<Connection>> connections_;
};

}  // namespace penstock::bench
