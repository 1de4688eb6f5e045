#include "runtime/thread_name.h"

#include <pthread.h>

namespace penstock::runtime {

void set_thread_name(const std::string& name) noexcept {
  constexpr std::size_t kNameMax = 15;  // the kernel's limit
  pthread_setname_np(pthread_self(), name.substr(0, kNameMax).c_str());
}

}  // namespace penstock::runtime
