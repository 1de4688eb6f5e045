// For tests: a throttle service on stores in plain maps, and its routes called as the server does.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "front/http/http.h"
#include "front/http/routes/test_route_call.h"
#include "service/testing/throttle_stores.h"
#include "service/throttle/throttle_service.h"

namespace penstock::front {

struct ThrottleCallText {
  std::string body = {};
  std::string query = {};
  std::string param = {};
  std::vector<std::pair<std::string, std::string>> headers = {};
  std::string peer = "203.0.113.9";
};

class ThrottleRoutesTest : public testing::Test {
 protected:
  ThrottleRoutesTest() {
    auto started = service::ThrottleService::start({}, limits_, policies_, log_, metrics_);
    EXPECT_TRUE(started);
    throttle_ = std::move(*started);
  }
  ~ThrottleRoutesTest() override {
    throttle_.reset();
    ::close(log_fd_);
  }

  Response send(Method method, std::string_view pattern, const ThrottleCallText& call) {
    RouteCall told{.method = method,
                   .query = call.query,
                   .body = call.body,
                   .headers = call.headers,
                   .peer = call.peer};
    if (!call.param.empty()) told.params = {call.param};
    return answer_of(find_route(routes_, method, pattern), std::move(told));
  }

  static std::string header(const Response& response, std::string_view name) {
    for (const auto& [key, value] : response.headers) {
      if (key == name) return value;
    }
    const std::string start = std::string(name) + ": ";
    const std::size_t at = ("\r\n" + response.header_lines).find("\r\n" + start);
    if (at == std::string::npos) return {};
    const std::size_t from = at + start.size();
    return response.header_lines.substr(from, response.header_lines.find("\r\n", from) - from);
  }

  // A policy of that many tokens that must be accepted.
  void given(std::string key, std::int64_t capacity, bool shadow = false) {
    core::PolicyDraft draft = core::default_policy_draft();
    draft.key = std::move(key);
    draft.limit.capacity = capacity;
    draft.shadow = shadow;
    ASSERT_TRUE(policies_.create(draft, {}));
    ASSERT_TRUE(throttle_->refresh_policies());
  }

  SimulatedClock clock_{from_epoch_millis(1'748'779'200'000)};  // 2025-06-01T12:00:00Z
  int log_fd_ = ::memfd_create("log", MFD_CLOEXEC);
  Log log_{clock_, log_fd_, LogLevel::debug, LogFormat::json};
  runtime::Metrics metrics_;
  service::FakeLimits limits_;
  service::FakePolicies policies_;
  std::unique_ptr<service::ThrottleService> throttle_;
  std::vector<Route> routes_;
};

}  // namespace penstock::front
