#include "engine/mariadb/address.h"

#include <gtest/gtest.h>

namespace penstock::store::mariadb {
namespace {

TEST(Address, is_read_from_a_url) {
  const auto plain = parse_address("mysql://db/penstock");
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->host, "db");
  EXPECT_EQ(plain->port, 3306);
  EXPECT_EQ(plain->database, "penstock");
  EXPECT_EQ(plain->user, "");
  EXPECT_EQ(plain->tls, TlsMode::disable);

  const auto full = parse_address(
      "mariadb://app:p%40ss:w%2Frd@[::1]:3307/throttle?sslmode=verify-full&sslrootcert=/ca.pem&"
      "sslcert=/c.pem&sslkey=/k.pem");
  ASSERT_TRUE(full) << full.error().what;
  EXPECT_EQ(full->user, "app");
  EXPECT_EQ(full->password, "p@ss:w/rd");
  EXPECT_EQ(full->host, "::1");
  EXPECT_EQ(full->port, 3307);
  EXPECT_EQ(full->tls, TlsMode::verify_full);
  EXPECT_EQ(full->root_certificate_file, "/ca.pem");
  EXPECT_EQ(full->certificate_file, "/c.pem");
  EXPECT_EQ(full->key_file, "/k.pem");
}

TEST(Address, of_another_form_is_refused_without_quoting_the_password) {
  for (const char* url :
       {"", "db/penstock", "postgresql://db/p", "mysql://", "mysql:///p", "mysql://u:hush@/p",
        "mysql://u:hush@db", "mysql://u:hush@db/", "mysql://u:hush@db:0/p",
        "mysql://u:hush@db:70000/p", "mysql://u:hush@db:x/p", "mysql://u:hush%zz@db/p",
        "mysql://u:hush@[::1/p", "mysql://u:hush@[::1]x/p", "mysql://u:hush@db/p?sslmode=maybe",
        "mysql://u:hush@db/p?ssl=on", "mysql://u:hush%00@db/p"}) {
    const auto address = parse_address(url);
    ASSERT_FALSE(address) << url;
    EXPECT_EQ(address.error().kind, ErrorKind::invalid);
    EXPECT_EQ(address.error().what.find("hush"), std::string::npos) << address.error().what;
  }
}

}  // namespace
}  // namespace penstock::store::mariadb
