#include "daemon/config/config.h"

#include <unistd.h>

namespace penstock::daemon {

LogFormat LogConfig::format_for(int fd) const noexcept {
  switch (format) {
    case LogFormatChoice::text:
      return LogFormat::text;
    case LogFormatChoice::json:
      return LogFormat::json;
    case LogFormatChoice::automatic:
      break;
  }
  return ::isatty(fd) == 1 ? LogFormat::text : LogFormat::json;
}

}  // namespace penstock::daemon
