// Many records at once: walks over the records of one family, and changes that are written
// together. One thread each.
#pragma once

#include <rocksdb/iterator.h>
#include <rocksdb/write_batch.h>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/result.h"
#include "engine/rocksdb/engine.h"

namespace penstock::store::embedded {

// The first key that does not begin with `prefix`; empty when there is none.
inline std::string behind(std::string prefix) {
  while (!prefix.empty() && prefix.back() == '\xff') prefix.pop_back();
  if (!prefix.empty()) prefix.back() = static_cast<char>(prefix.back() + 1);
  return prefix;
}

// The first key that is greater than `key`.
inline std::string after(std::string_view key) { return std::string(key) + '\0'; }

// A cursor over [begin, end) of one family; an empty `end` is the end of the family. The bounds
// belong to it: RocksDB keeps pointers to them.
class Cursor {
 public:
  // A snapshot in `options` must outlive the cursor; without one it shows what there is now.
  Cursor(const Engine::View& view, Family family, const std::string& begin, std::string end,
         rocksdb::ReadOptions options = {})
      : view_(view), end_(std::move(end)), end_slice_(end_) {
    if (!end_.empty()) options.iterate_upper_bound = &end_slice_;
    rows_.reset(view.db().NewIterator(options, view.family(family)));
    rows_->Seek(begin);
  }
  Cursor(const Cursor&) = delete;
  Cursor& operator=(const Cursor&) = delete;

  // Whether it stands at a record; an error when the walk ended because of one.
  Result<bool> more() const {
    if (rows_->Valid()) return true;
    PENSTOCK_TRY(view_.check(rows_->status(), "read the database"));
    return false;
  }
  bool valid() const { return rows_->Valid(); }
  void next() { rows_->Next(); }
  void seek(const std::string& key) { rows_->Seek(key); }
  std::string_view key() const { return rows_->key().ToStringView(); }
  std::string_view value() const { return rows_->value().ToStringView(); }

 private:
  const Engine::View& view_;
  const std::string end_;
  const rocksdb::Slice end_slice_;
  std::unique_ptr<rocksdb::Iterator> rows_;
};

template <class Decode>
using DecodedRecord =
    typename std::invoke_result_t<const Decode&, std::string_view, std::string_view>::value_type;

// At most `limit` records of [begin, end), decoded by their key and value.
template <class Decode>
Result<std::vector<DecodedRecord<Decode>>> read_range(const Engine::View& view, Family family,
                                                      const std::string& begin, std::string end,
                                                      std::size_t limit, const Decode& decode,
                                                      const rocksdb::ReadOptions& options = {}) {
  std::vector<DecodedRecord<Decode>> records;
  Cursor rows(view, family, begin, std::move(end), options);
  for (; PENSTOCK_TRY(rows.more()); rows.next()) {
    if (records.size() == limit) break;
    DecodedRecord<Decode> record = PENSTOCK_TRY(view.in_folder(decode(rows.key(), rows.value())));
    records.push_back(std::move(record));
  }
  return records;
}

// Of a whole family the first record of each run of keys that begin with `prefix_of(record)`: where
// versions stand newest first, the newest of each name.
template <class Decode, class PrefixOf>
Result<std::vector<DecodedRecord<Decode>>> read_first_of_each(const Engine::View& view,
                                                              Family family, const Decode& decode,
                                                              const PrefixOf& prefix_of) {
  std::vector<DecodedRecord<Decode>> records;
  for (Cursor rows(view, family, {}, {}); PENSTOCK_TRY(rows.more());
       rows.seek(behind(prefix_of(records.back())))) {
    DecodedRecord<Decode> record = PENSTOCK_TRY(view.in_folder(decode(rows.key(), rows.value())));
    records.push_back(std::move(record));
  }
  return records;
}

// Many keys looked up at once. Its buffers are kept from call to call.
class LookUp {
 public:
  // Ascending keys are cheaper.
  void run(const Engine::View& view, Family family, const std::vector<rocksdb::Slice>& keys,
           bool ascending) {
    used_ = keys.size();
    if (found_.size() < used_) found_.resize(used_);
    if (statuses_.size() < used_) statuses_.resize(used_);
    view.db().MultiGet(rocksdb::ReadOptions(), view.family(family), used_, keys.data(),
                       found_.data(), statuses_.data(), ascending);
  }
  bool is_missing(std::size_t key) const { return statuses_[key].IsNotFound(); }
  std::string_view value(std::size_t key) const { return found_[key].ToStringView(); }
  // Of a key that is not missing.
  template <class Decode>
  auto read(const Engine::View& view, std::size_t key, std::string_view doing,
            const Decode& decode) const -> std::invoke_result_t<const Decode&, std::string_view> {
    PENSTOCK_TRY(view.check(statuses_[key], doing));
    return view.in_folder(decode(value(key)));
  }
  // Unpins what was found, before the view goes. Gives large buffers (a few MiB) back, and says so:
  // the caller's are large then, too.
  bool forget() {
    for (std::size_t i = 0; i < used_; ++i) found_[i].Reset();
    used_ = 0;
    if (found_.size() <= kKept) return false;
    std::vector<rocksdb::PinnableSlice>().swap(found_);
    std::vector<rocksdb::Status>().swap(statuses_);
    return true;
  }

 private:
  static constexpr std::size_t kKept = 10'000;

  std::size_t used_ = 0;
  std::vector<rocksdb::PinnableSlice> found_;
  std::vector<rocksdb::Status> statuses_;
};

// Writes of one atomic step. Remembers the first that RocksDB refused.
class Changes {
 public:
  // `buffer`: of an earlier step, so that its memory serves again; what it holds is dropped.
  explicit Changes(const Engine::View& view, rocksdb::WriteBatch buffer = rocksdb::WriteBatch())
      : view_(view), batch_(std::move(buffer)) {
    batch_.Clear();
  }

  void put(Family family, std::string_view key, std::string_view value) {
    keep(batch_.Put(view_.family(family), slice(key), slice(value)));
  }
  void remove(Family family, std::string_view key) {
    keep(batch_.Delete(view_.family(family), slice(key)));
  }
  // Of a key that is never put twice without being removed between: RocksDB then drops both when
  // they meet, while the trace of a plain delete stays until it reaches the oldest files.
  void remove_once(Family family, std::string_view key) {
    keep(batch_.SingleDelete(view_.family(family), slice(key)));
  }

  const Engine::View& view() const noexcept { return view_; }
  bool empty() const { return batch_.Count() == 0; }
  rocksdb::WriteBatch take_buffer() { return std::move(batch_); }

  // Durable when it returns; nothing is done when there is nothing to write.
  Result<void> commit(Engine& engine) {
    PENSTOCK_TRY(view_.check(status_, "write"));
    if (empty()) return {};
    return engine.commit(batch_);
  }

 private:
  void keep(const rocksdb::Status& status) {
    if (status_.ok()) status_ = status;
  }

  const Engine::View& view_;
  rocksdb::WriteBatch batch_;
  rocksdb::Status status_;
};

}  // namespace penstock::store::embedded
