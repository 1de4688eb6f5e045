// Walks over the records of one family.
#pragma once

#include <rocksdb/iterator.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "engine/rocksdb/engine.h"

namespace penstock::store::embedded {

inline rocksdb::Slice slice(std::string_view text) { return {text.data(), text.size()}; }

// A cursor over [begin, end) of one family. The bounds belong to it: RocksDB keeps pointers to
// them.
class Cursor {
 public:
  // `snapshot` null = as it is now; else it must outlive the cursor.
  Cursor(const Engine::View& view, Family family, const std::string& begin, std::string end,
         const rocksdb::Snapshot* snapshot = nullptr)
      : view_(view), end_(std::move(end)), end_slice_(end_) {
    rocksdb::ReadOptions options;
    options.snapshot = snapshot;
    if (!end_.empty()) options.iterate_upper_bound = &end_slice_;
    rows_.reset(view.db().NewIterator(options, view.family(family)));
    rows_->Seek(begin);
  }
  Cursor(const Cursor&) = delete;
  Cursor& operator=(const Cursor&) = delete;

  bool valid() const { return rows_->Valid(); }
  void next() { rows_->Next(); }
  void seek(const std::string& key) { rows_->Seek(key); }
  std::string_view key() const { return text(rows_->key()); }
  std::string_view value() const { return text(rows_->value()); }

  // Once not valid: whether that is the end or a failure.
  Result<void> status() const {
    if (rows_->status().ok()) return {};
    return std::unexpected(view_.translate(rows_->status(), "read the database"));
  }

 private:
  static std::string_view text(const rocksdb::Slice& slice) { return {slice.data(), slice.size()}; }

  const Engine::View& view_;
  const std::string end_;
  const rocksdb::Slice end_slice_;
  std::unique_ptr<rocksdb::Iterator> rows_;
};

// The first key that does not begin with `prefix`; empty when there is none.
inline std::string behind(std::string prefix) {
  while (!prefix.empty() && prefix.back() == '\xff') prefix.pop_back();
  if (!prefix.empty()) prefix.back() = static_cast<char>(prefix.back() + 1);
  return prefix;
}

}  // namespace penstock::store::embedded
