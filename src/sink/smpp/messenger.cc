#include "sink/smpp/messenger.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/gateway/sms.h"
#include "wire/json.h"
#include "wire/json_fields.h"

namespace penstock::sink {
namespace {

// A dispatcher hands over no more than `concurrency` at a time; this is for whoever does.
constexpr std::size_t kCallsMax = 10'000;
// Messages that were taken in part and wait for another attempt: under a megabyte.
constexpr std::size_t kPartlyMax = 1'000;

SinkAnswer failed_message(std::string why) {
  return {.outcome = SinkOutcome::failed, .detail = std::move(why)};
}

// FNV-1a, folded to the one byte that joins parts.
std::uint8_t join_number(std::string_view id) noexcept {
  std::uint32_t hash = 2'166'136'261U;
  for (const char c : id) hash = (hash ^ static_cast<unsigned char>(c)) * 16'777'619U;
  return static_cast<std::uint8_t>(hash ^ hash >> 8 ^ hash >> 16 ^ hash >> 24);
}

// A user data header with one element: parts of one message, 8-bit number.
std::string join_header(std::uint8_t number, std::size_t parts, std::size_t part) {
  const std::uint8_t bytes[] = {
      5, 0, 3, number, static_cast<std::uint8_t>(parts), static_cast<std::uint8_t>(part)};
  return {reinterpret_cast<const char*>(bytes), sizeof(bytes)};
}

wire::SmppAddress source_of(const SmppSettings& smpp) {
  wire::SmppAddress source = wire::smpp_address_of(smpp.source);
  if (smpp.source_ton) source.ton = static_cast<std::uint8_t>(*smpp.source_ton);
  if (smpp.source_npi) source.npi = static_cast<std::uint8_t>(*smpp.source_npi);
  return source;
}

bool never_works(std::uint32_t status) {
  switch (status) {
    case 0x01:  // the message's length
    case 0x06:  // priority
    case 0x07:  // registered delivery
    case 0x0A:  // source address
    case 0x0B:  // destination address
    case 0x15:  // service type
    case 0x33:  // number of destinations
    case 0x34:  // name of a distribution list
    case 0x40:  // destination flag
    case 0x43:  // esm_class
    case 0x48:  // type and plan of the source
    case 0x49:
    case 0x50:  // type and plan of the destination
    case 0x51:
    case 0x54:  // replace flag
    case 0x61:  // time of delivery
    case 0x62:  // validity
    case 0x63:  // canned message
    case 0x65:  // the receiver's permanent error, and its refusal
    case 0x66:
    case 0xC0:  // options
    case 0xC1:
    case 0xC2:
    case 0xC3:
    case 0xC4:
      return true;
    default:
      return false;
  }
}

}  // namespace

SinkAnswer judge_status(std::uint32_t status) {
  SinkAnswer answer{.outcome = SinkOutcome::failed, .detail = wire::smpp_status_name(status)};
  if (status == wire::kSmppOk) answer.outcome = SinkOutcome::done;
  if (status == wire::kSmppThrottled || status == wire::kSmppQueueFull) {
    answer.outcome = SinkOutcome::slow_down;  // the protocol has no word for how long
  }
  if (never_works(status)) answer.outcome = SinkOutcome::refused;
  return answer;
}

Result<SmppParts> smpp_parts_of(std::string_view context, const ItemId& id) {
  const Result<wire::JsonDocument> document = wire::parse_json(context);
  if (!document) return std::unexpected(document.error());
  wire::JsonFields fields(document->root());
  const std::string_view message = fields.required_string("message");
  const std::optional<std::string_view> to = fields.optional_string("to");
  const std::int64_t user = to ? 0 : fields.required_integer("userId");
  if (fields.error()) return std::unexpected(*fields.error());
  core::SmsText text = core::encode_sms(message);
  if (text.parts.size() > static_cast<std::size_t>(core::kSegmentsMax)) {
    return invalid_field("message", "has more parts than a phone can join");
  }
  SmppParts parts{
      .destination = wire::smpp_address_of(to ? std::string(*to) : std::to_string(user)),
      .data_coding = text.encoding == core::SmsEncoding::gsm7 ? wire::kDataCodingDefault
                                                              : wire::kDataCodingUcs2,
      .esm_class = 0,
      .texts = std::move(text.parts)};
  if (parts.texts.size() == 1) return parts;
  parts.esm_class = wire::kEsmClassHeader;
  const std::uint8_t number = join_number(id.str());
  for (std::size_t i = 0; i < parts.texts.size(); ++i) {
    parts.texts[i].insert(0, join_header(number, parts.texts.size(), i + 1));
  }
  return parts;
}

SmppMessenger::SmppMessenger(const SmppSettings& settings, Taken taken, Count count)
    : settings_(settings),
      source_(source_of(settings)),
      taken_(std::move(taken)),
      count_(std::move(count)) {}

void SmppMessenger::add(Handover&& item, Sink::Done&& done, Micros now) {
  Result<SmppParts> parts = smpp_parts_of(item.context, item.id);
  if (!parts) {
    return done({.outcome = SinkOutcome::refused,
                 .detail = "this item is no message: " + parts.error().what});
  }
  if (calls_.size() >= kCallsMax) {
    return done({.outcome = SinkOutcome::slow_down, .detail = "too many hand-overs wait"});
  }
  Call call{.item = std::move(item), .done = std::move(done), .parts = std::move(*parts)};
  call.deadline = now + settings_.timeout;
  if (call.item.patience) call.send_by = now + *call.item.patience;
  call.references.resize(call.parts.texts.size());
  if (const auto known = partly_.find(call.item.id); known != partly_.end()) {
    if (known->second.size() == call.references.size()) call.references = known->second;
    partly_.erase(known);
  }
  calls_.push_back(std::move(call));
}

bool SmppMessenger::has_more(const Call& call) const noexcept {
  return !call.verdict && call.next < call.parts.texts.size();
}

void SmppMessenger::pump(SmppSession& session, Micros now) {
  for (auto call = calls_.begin(); call != calls_.end() && session.has_room();) {
    const auto here = call++;
    if (!here->begun && now > here->send_by) {
      SinkAnswer late{.outcome = SinkOutcome::late, .detail = {}};
      remember(*here);
      late.unsent = std::move(here->item);
      Sink::Done done = std::move(here->done);
      calls_.erase(here);
      done(std::move(late));
      continue;
    }
    while (session.has_room() && has_more(*here)) {
      const std::size_t part = here->next++;
      if (here->references[part]) continue;  // taken in an attempt before
      const SmppSession::Ticket ticket = ++last_ticket_;
      submits_.emplace(ticket, Submit{.call = here, .part = part});
      ++here->in_flight;
      here->begun = true;
      session.submit(ticket, {.source = source_,
                              .destination = here->parts.destination,
                              .esm_class = here->parts.esm_class,
                              .registered_delivery =
                                  settings_.receipts ? wire::kReceiptAlways : std::uint8_t{0},
                              .data_coding = here->parts.data_coding,
                              .text = here->parts.texts[part],
                              .receipted_id = {},
                              .message_state = {}});
    }
    conclude(here);
  }
}

void SmppMessenger::take_answers(SmppSession& session, Micros now) {
  for (SmppSession::Answered& answered : session.take_answered()) {
    const auto found = submits_.find(answered.ticket);
    if (found == submits_.end()) continue;
    const auto [call, part] = found->second;
    submits_.erase(found);
    --call->in_flight;
    SinkAnswer judged = judge_status(answered.status);
    count_(judged.outcome);
    if (judged.outcome == SinkOutcome::done) {
      call->references[part] = std::move(answered.reference);
    } else if (!call->verdict || call->verdict->outcome == SinkOutcome::slow_down) {
      // A part that never will be taken says more than one that was not taken now.
      call->verdict = std::move(judged);
    }
    conclude(call);
  }
  pump(session, now);
}

// Answers a call when nothing of it is under way or still to be sent.
void SmppMessenger::conclude(CallRef call) {
  if (call->in_flight > 0 || has_more(*call)) return;
  if (call->verdict) {
    remember(*call);
    SinkAnswer verdict = std::move(*call->verdict);
    return answer(call, std::move(verdict));
  }
  std::vector<std::string> references;
  references.reserve(call->references.size());
  for (std::optional<std::string>& each : call->references) references.push_back(std::move(*each));
  const ItemId id = std::move(call->item.id);
  Sink::Done done = std::move(call->done);
  calls_.erase(call);
  taken_(id, std::move(references), std::move(done));
}

void SmppMessenger::answer(CallRef call, SinkAnswer&& answer) {
  Sink::Done done = std::move(call->done);
  calls_.erase(call);
  done(std::move(answer));
}

void SmppMessenger::remember(const Call& call) {
  const auto taken = std::ranges::count_if(
      call.references, [](const auto& reference) { return reference.has_value(); });
  if (taken == 0) return;
  if (partly_.size() >= kPartlyMax) partly_.erase(partly_.begin());  // ids begin with their time
  partly_.insert_or_assign(call.item.id, call.references);
}

void SmppMessenger::on_time(SmppSession* session, Micros now) {
  while (!calls_.empty() && calls_.front().deadline <= now) {
    const auto call = calls_.begin();
    std::erase_if(submits_, [&](const auto& submit) {
      if (submit.second.call != call) return false;
      if (session != nullptr) session->forget(submit.first);
      return true;
    });
    remember(*call);
    answer(call, failed_message(fmt::format("timed out after {} ms{}", settings_.timeout.count(),
                                            call->begun ? "" : ", waiting for its turn")));
  }
}

Micros SmppMessenger::wake_at() const noexcept {
  return calls_.empty() ? Micros::max() : calls_.front().deadline;
}

void SmppMessenger::on_lost(const std::string& why, std::optional<Millis> pause) {
  submits_.clear();
  for (auto call = calls_.begin(); call != calls_.end();) {
    const auto here = call++;
    if (here->in_flight > 0) {
      // It may have been taken: this counts as an attempt, and the next one may be a repetition.
      remember(*here);
      answer(here, failed_message(why));
    } else if (pause) {
      remember(*here);
      answer(here, {.outcome = SinkOutcome::slow_down, .detail = why, .pause = pause});
    } else {
      here->next = 0;
    }
  }
}

void SmppMessenger::close() {
  submits_.clear();
  while (!calls_.empty()) answer(calls_.begin(), failed_message("this node stops"));
}

}  // namespace penstock::sink
