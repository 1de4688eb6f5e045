#include "wire/smpp.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/check.h"

namespace penstock::wire {
namespace {

constexpr std::uint8_t kInterfaceVersion = 0x34;
constexpr std::size_t kLongestText = 65;  // of any text that ends with a NUL, without it

constexpr std::uint16_t kOptionReceiptedId = 0x001E;
constexpr std::uint16_t kOptionPayload = 0x0424;
constexpr std::uint16_t kOptionMessageState = 0x0427;

std::uint32_t read_u32(std::string_view bytes, std::size_t at) noexcept {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
  }
  return value;
}

void put_u8(std::string& out, std::uint8_t value) { out.push_back(static_cast<char>(value)); }
void put_u16(std::string& out, std::uint16_t value) {
  put_u8(out, static_cast<std::uint8_t>(value >> 8));
  put_u8(out, static_cast<std::uint8_t>(value & 0xFF));
}
void put_u32(std::string& out, std::uint32_t value) {
  put_u16(out, static_cast<std::uint16_t>(value >> 16));
  put_u16(out, static_cast<std::uint16_t>(value & 0xFFFF));
}

// Up to a NUL of its own: nothing breaks out of its field.
void put_text(std::string& out, std::string_view text) {
  text = text.substr(0, std::min(text.find('\0'), kLongestText));
  out.append(text);
  out.push_back('\0');
}

void put_address(std::string& out, const SmppAddress& address) {
  put_u8(out, address.ton);
  put_u8(out, address.npi);
  put_text(out, address.number);
}

// Writes a unit around a body: its length is known only behind it.
class Unit {
 public:
  Unit(std::string& out, const SmppHeader& header) : out_(out), begin_(out.size()) {
    put_u32(out_, 0);
    put_u32(out_, static_cast<std::uint32_t>(header.command));
    put_u32(out_, header.status);
    put_u32(out_, header.sequence);
  }
  Unit(const Unit&) = delete;
  Unit& operator=(const Unit&) = delete;
  ~Unit() {
    std::string length;
    put_u32(length, static_cast<std::uint32_t>(out_.size() - begin_));
    out_.replace(begin_, length.size(), length);
  }

 private:
  std::string& out_;
  const std::size_t begin_;
};

// Takes fields off the front; remembers the first problem, as the stores' reader does.
class Fields {
 public:
  explicit Fields(std::string_view bytes) : rest_(bytes) {}

  std::uint8_t u8(std::string_view name) {
    const std::string_view byte = take(name, 1);
    return byte.empty() ? std::uint8_t{0} : static_cast<std::uint8_t>(byte.front());
  }
  std::uint16_t u16(std::string_view name) {
    const std::uint8_t high = u8(name);
    return static_cast<std::uint16_t>(high << 8 | u8(name));
  }
  std::string_view text(std::string_view name) {
    const std::size_t length = rest_.substr(0, kLongestText + 1).find('\0');
    if (length == std::string_view::npos) {
      refuse(name, rest_.size() > kLongestText ? "is too long" : "is cut short");
      return {};
    }
    const std::string_view text = take(name, length);
    take(name, 1);
    return text;
  }
  SmppAddress address(std::string_view name) {
    SmppAddress address;
    address.ton = u8(name);
    address.npi = u8(name);
    address.number = text(name);
    return address;
  }
  std::string_view take(std::string_view name, std::size_t size) {
    if (rest_.size() < size) {
      refuse(name, "is cut short");
      return {};
    }
    const std::string_view taken = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return taken;
  }
  bool at_end() const noexcept { return rest_.empty(); }

  void refuse(std::string_view name, std::string_view problem) {
    if (problem_.empty()) problem_ = fmt::format("{} {}", name, problem);
    rest_ = {};
  }

  template <class T>
  Result<T> done(T value) {
    if (problem_.empty()) return value;
    return fail(ErrorKind::invalid, problem_);
  }

 private:
  std::string_view rest_;
  std::string problem_;
};

void take_options(Fields& fields, SmppMessage& message) {
  while (!fields.at_end()) {
    const std::uint16_t tag = fields.u16("an option");
    const std::uint16_t length = fields.u16("an option");
    std::string_view value = fields.take("an option", length);
    switch (tag) {
      case kOptionReceiptedId:
        // A NUL ends it; there are those who leave it away.
        message.receipted_id = value.substr(0, std::min(value.find('\0'), kLongestText));
        break;
      case kOptionMessageState:
        if (!value.empty()) message.message_state = static_cast<std::uint8_t>(value.front());
        break;
      case kOptionPayload:
        message.text = value;
        break;
      default:
        break;
    }
  }
}

}  // namespace

std::string smpp_status_name(std::uint32_t status) {
  static constexpr std::pair<std::uint32_t, std::string_view> kNames[] = {
      {0x00, "ESME_ROK"},
      {0x01, "ESME_RINVMSGLEN"},
      {0x02, "ESME_RINVCMDLEN"},
      {0x03, "ESME_RINVCMDID"},
      {0x04, "ESME_RINVBNDSTS"},
      {0x05, "ESME_RALYBND"},
      {0x06, "ESME_RINVPRTFLG"},
      {0x07, "ESME_RINVREGDLVFLG"},
      {0x08, "ESME_RSYSERR"},
      {0x0A, "ESME_RINVSRCADR"},
      {0x0B, "ESME_RINVDSTADR"},
      {0x0C, "ESME_RINVMSGID"},
      {0x0D, "ESME_RBINDFAIL"},
      {0x0E, "ESME_RINVPASWD"},
      {0x0F, "ESME_RINVSYSID"},
      {0x14, "ESME_RMSGQFUL"},
      {0x15, "ESME_RINVSERTYP"},
      {0x43, "ESME_RINVESMCLASS"},
      {0x45, "ESME_RSUBMITFAIL"},
      {0x48, "ESME_RINVSRCTON"},
      {0x49, "ESME_RINVSRCNPI"},
      {0x50, "ESME_RINVDSTTON"},
      {0x51, "ESME_RINVDSTNPI"},
      {0x53, "ESME_RINVSYSTYP"},
      {0x54, "ESME_RINVREPFLAG"},
      {0x58, "ESME_RTHROTTLED"},
      {0x61, "ESME_RINVSCHED"},
      {0x62, "ESME_RINVEXPIRY"},
      {0x63, "ESME_RINVDFTMSGID"},
      {0x64, "ESME_RX_T_APPN"},
      {0x65, "ESME_RX_P_APPN"},
      {0x66, "ESME_RX_R_APPN"},
      {0xC0, "ESME_RINVOPTPARSTREAM"},
      {0xC1, "ESME_ROPTPARNOTALLWD"},
      {0xC2, "ESME_RINVPARLEN"},
      {0xC3, "ESME_RMISSINGOPTPARAM"},
      {0xC4, "ESME_RINVOPTPARAMVAL"},
      {0xFE, "ESME_RDELIVERYFAILURE"},
      {0xFF, "ESME_RUNKNOWNERR"}};
  const auto* const found =
      std::ranges::find(kNames, status, &std::pair<std::uint32_t, std::string_view>::first);
  if (found == std::end(kNames)) return fmt::format("status 0x{:x}", status);
  return fmt::format("{} (0x{:02x})", found->second, status);
}

SmppFrame read_smpp_frame(std::string_view bytes) noexcept {
  SmppFrame frame;
  if (bytes.size() < 4) return frame;
  const std::size_t size = read_u32(bytes, 0);
  if (size < kSmppHeaderBytes || size > kSmppPduBytesMax) {
    frame.state = SmppFrame::State::broken;
    return frame;
  }
  if (bytes.size() < size) return frame;
  frame.state = SmppFrame::State::complete;
  frame.header = {.command = static_cast<SmppCommand>(read_u32(bytes, 4)),
                  .status = read_u32(bytes, 8),
                  .sequence = read_u32(bytes, 12)};
  frame.body = bytes.substr(kSmppHeaderBytes, size - kSmppHeaderBytes);
  frame.size = size;
  return frame;
}

SmppAddress smpp_address_of(std::string_view text) {
  // Types of number and numbering plans as the protocol counts them.
  constexpr std::uint8_t kInternational = 1;
  constexpr std::uint8_t kName = 5;
  constexpr std::uint8_t kTelephone = 1;
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  if (text.empty()) return {};
  const std::string_view digits = text.substr(text.front() == '+' ? 1 : 0);
  if (digits.empty() || !std::ranges::all_of(digits, is_digit)) {
    return {.ton = kName, .npi = 0, .number = std::string(text)};
  }
  const bool international = digits.size() < text.size();
  return {.ton = international ? kInternational : std::uint8_t{0},
          .npi = kTelephone,
          .number = std::string(digits)};
}

void append_smpp(std::string& out, const SmppHeader& header) { const Unit unit(out, header); }

void append_smpp_bind(std::string& out, std::uint32_t sequence, const SmppBind& bind) {
  const Unit unit(out, {.command = SmppCommand::bind_transceiver, .sequence = sequence});
  put_text(out, bind.system_id);
  put_text(out, bind.password);
  put_text(out, bind.system_type);
  put_u8(out, kInterfaceVersion);
  put_address(out, {});  // of messages to us: whatever the provider has set
}

void append_smpp_message(std::string& out, const SmppHeader& header, const SmppMessage& message) {
  PENSTOCK_CHECK(message.text.size() <= kSmppTextBytesMax);
  const Unit unit(out, header);
  put_text(out, "");  // service type
  put_address(out, message.source);
  put_address(out, message.destination);
  put_u8(out, message.esm_class);
  put_u8(out, 0);     // protocol id
  put_u8(out, 0);     // priority
  put_text(out, "");  // at once
  put_text(out, "");  // valid as long as the provider holds messages
  put_u8(out, message.registered_delivery);
  put_u8(out, 0);  // replaces nothing
  put_u8(out, message.data_coding);
  put_u8(out, 0);  // no canned message
  put_u8(out, static_cast<std::uint8_t>(message.text.size()));
  out.append(message.text);
  if (!message.receipted_id.empty()) {
    put_u16(out, kOptionReceiptedId);
    const std::string_view id = std::string_view(message.receipted_id).substr(0, kLongestText);
    put_u16(out, static_cast<std::uint16_t>(id.size() + 1));
    put_text(out, id);
  }
  if (message.message_state) {
    put_u16(out, kOptionMessageState);
    put_u16(out, 1);
    put_u8(out, *message.message_state);
  }
}

void append_smpp_answer(std::string& out, const SmppHeader& header, std::string_view id) {
  const Unit unit(out, header);
  put_text(out, id);
}

Result<SmppBind> decode_smpp_bind(std::string_view body) {
  Fields fields(body);
  SmppBind bind;
  bind.system_id = fields.text("system_id");
  bind.password = fields.text("password");
  bind.system_type = fields.text("system_type");
  fields.u8("interface_version");
  fields.address("address_range");
  return fields.done(std::move(bind));
}

Result<SmppMessage> decode_smpp_message(std::string_view body) {
  Fields fields(body);
  SmppMessage message;
  fields.text("service_type");
  message.source = fields.address("source_addr");
  message.destination = fields.address("destination_addr");
  message.esm_class = fields.u8("esm_class");
  fields.u8("protocol_id");
  fields.u8("priority_flag");
  fields.text("schedule_delivery_time");
  fields.text("validity_period");
  message.registered_delivery = fields.u8("registered_delivery");
  fields.u8("replace_if_present_flag");
  message.data_coding = fields.u8("data_coding");
  fields.u8("sm_default_msg_id");
  message.text = fields.take("short_message", fields.u8("sm_length"));
  take_options(fields, message);
  return fields.done(std::move(message));
}

Result<std::string> decode_smpp_answer(std::string_view body) {
  if (body.empty()) return std::string();
  Fields fields(body);
  std::string id(fields.text("message_id"));
  return fields.done(std::move(id));
}

}  // namespace penstock::wire
