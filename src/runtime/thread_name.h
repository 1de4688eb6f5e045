// Names the calling thread for top, gdb and perf.
#pragma once

#include <string>

namespace penstock::runtime {
void set_thread_name(const std::string& name) noexcept;
}  // namespace penstock::runtime
