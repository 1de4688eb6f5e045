#include "service/payments/payment_notifier.h"

#include <utility>
#include <vector>

#include "base/rng.h"

namespace penstock::service {
namespace {

// One for each payment: a notice that comes again is the same, whenever it comes.
core::BodyDigest digest_of(const PaymentId& id) {
  core::BodyDigest digest{};
  std::uint64_t hash = 0;
  for (const char c : id.str()) hash = mix64(hash ^ static_cast<unsigned char>(c));
  for (std::size_t i = 0; i < digest.size(); ++i) {
    digest[i] = static_cast<std::uint8_t>(mix64(hash + i));
  }
  return digest;
}

}  // namespace

QueueNotifier::QueueNotifier(store::QueueStore& queue, store::ItemTypeStore& types,
                             const Clock& clock, Log& log, Wake wake)
    : queue_(queue), types_(types), clock_(clock), log_(log), wake_(std::move(wake)) {}

Result<void> QueueNotifier::notify(std::span<const PaymentNotice> notices) {
  if (notices.empty()) return {};
  const auto type = PENSTOCK_TRY(types_.find(notice_item_type()));
  if (!type) {
    for (const PaymentNotice& notice : notices) {
      log_.info("payments.accepted", {{"payment_id", notice.id.str()}, {"answer", notice.answer}});
    }
    return {};
  }
  std::vector<store::NewItem> items;
  items.reserve(notices.size());
  const Instant now = cut_to_millis(clock_.now());
  for (const PaymentNotice& notice : notices) {
    items.push_back({.type = notice_item_type(),
                     .id = ItemId::trusted(notice.id.str()),
                     .due = now,
                     .slot = std::nullopt,
                     .context = R"({"status":"ACCEPTED","payment":)" + notice.payment + "}",
                     .digest = digest_of(notice.id)});
  }
  for (const Result<store::Enqueued>& each : queue_.enqueue(items, std::nullopt)) {
    if (!each) return std::unexpected(each.error());
  }
  wake_(notice_item_type());
  return {};
}

}  // namespace penstock::service
