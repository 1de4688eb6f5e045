#include <penstock/version.h>

#define PENSTOCK_TEXT_(x) #x
#define PENSTOCK_TEXT(x) PENSTOCK_TEXT_(x)

namespace penstock {
inline namespace v0 {

const char* version() noexcept {
  return PENSTOCK_TEXT(PENSTOCK_VERSION_MAJOR) "." PENSTOCK_TEXT(
      PENSTOCK_VERSION_MINOR) "." PENSTOCK_TEXT(PENSTOCK_VERSION_PATCH);
}

}  // namespace v0
}  // namespace penstock
