// Which brokers, and how they are spoken to. Plain data.
#pragma once

#include <string>

namespace penstock::kafka {

struct Connection {
  std::string brokers;  // host:port,host:port
  bool tls = false;
  std::string ca_file;           // PEM; empty = the machine's
  std::string certificate_file;  // PEM, what we show; empty = none
  std::string key_file;
  std::string sasl_mechanism;  // PLAIN, SCRAM-SHA-256, SCRAM-SHA-512; empty = none
  std::string username;
  std::string password;  // never shown
};

}  // namespace penstock::kafka
