#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <thread>

#include "cli/client_options.h"
#include "cli/exit_code.h"
#include "cli/terminal.h"
#include "runtime/clocks.h"
#include "tool/commands/commands.h"
#include "tool/top/top_feed.h"
#include "tool/top/top_state.h"
#include "tool/top/top_view.h"

namespace penstock::tool {
namespace {

constexpr int kLookMillis = 50;          // for keys, news and a new size of the terminal
constexpr Millis kSilence = Seconds{5};  // a sample comes every second
constexpr double kOncePatience = 15;     // seconds; two samples take two
constexpr std::size_t kOnceWidth = 100;  // where there is no terminal to ask

struct TopArguments {
  cli::ClientOptions client;
  bool once = false;
};

// Gives what came to the state. A refusal, or a stream of another kind, is an error: it will not
// change by itself.
Result<bool> take_news(TopFeed& feed, TopState& state) {
  bool any = false;
  for (const TopNews& news : feed.take()) {
    any = true;
    Result<void> taken;
    switch (news.kind) {
      case TopNews::Kind::event:
        taken = state.take_event(news.name, news.text);
        break;
      case TopNews::Kind::types:
        taken = state.take_types(news.text);
        break;
      case TopNews::Kind::summary:
        taken = state.take_summary(news.text);
        break;
      case TopNews::Kind::lost:
        state.lose(news.text);
        break;
      case TopNews::Kind::refused:
        return fail(ErrorKind::conflict, news.text);
    }
    if (!taken) return std::unexpected(taken.error());
  }
  return any;
}

const char* color_of(Tone tone) {
  switch (tone) {
    case Tone::title:
      return "\x1b[7m";
    case Tone::heading:
      return "\x1b[1m";
    case Tone::dim:
      return "\x1b[2m";
    case Tone::bad:
      return "\x1b[31m";
    case Tone::plain:
      break;
  }
  return "";
}

std::string picture(const std::vector<ViewLine>& lines, bool colors) {
  std::string text;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (i > 0) text += cli::Screen::kLineEnd;
    const char* color = colors ? color_of(lines[i].tone) : "";
    text += color + lines[i].text + (*color != '\0' ? "\x1b[0m" : "");
  }
  return text;
}

// Waits for two samples, which make a rate, and prints them.
int run_once(const TopArguments& arguments, TopFeed& feed) {
  const cli::Interrupt interrupt;
  const runtime::Stopwatch watch;
  TopState state;
  while (state.samples() < 2 || !feed.asked_types()) {
    const Result<bool> news = take_news(feed, state);
    if (!news) return cli::print_error(news.error().what), cli::kExitFailed;
    if (!state.problem().empty() || watch.seconds() > kOncePatience) {
      cli::print_error(state.problem().empty() ? "the daemon sends no samples" : state.problem());
      return cli::kExitUnreachable;
    }
    if (interrupt.happened()) return cli::kExitInterrupted;
    std::this_thread::sleep_for(std::chrono::milliseconds(kLookMillis));
  }
  if (const Result<bool> rest = take_news(feed, state); !rest) {
    return cli::print_error(rest.error().what), cli::kExitFailed;
  }
  if (arguments.client.json) {
    fmt::print("{}", top_json(state, arguments.client.url));
    return cli::kExitOk;
  }
  for (const ViewLine& line :
       top_view(state, arguments.client.url, {.width = kOnceWidth, .height = 0})) {
    fmt::print("{}\n", line.text);
  }
  return cli::kExitOk;
}

int run_live(const TopArguments& arguments, TopFeed& feed) {
  TopState state;
  std::string refusal;
  {
    const cli::Interrupt interrupt;
    const cli::Screen screen;
    const bool colors = cli::Screen::has_colors();
    cli::ScreenSize drawn{.width = 0, .height = 0};
    while (!interrupt.happened()) {
      const Result<bool> news = take_news(feed, state);
      if (!news) {
        refusal = news.error().what;
        break;
      }
      if (const cli::ScreenSize size = screen.size(); *news || size != drawn) {
        drawn = size;
        std::vector<ViewLine> lines = top_view(
            state, arguments.client.url, {size.width, std::max<std::size_t>(size.height, 2) - 1});
        lines.push_back({"q quits", Tone::dim});
        screen.draw(picture(lines, colors));
      }
      const char key = screen.key(kLookMillis);
      if (key == 'q' || key == 'Q') break;
    }
  }
  if (refusal.empty()) return cli::kExitOk;
  cli::print_error(refusal);
  return cli::kExitFailed;
}

int run_top(const TopArguments& arguments) {
  Result<http::HttpClientOptions> settings = cli::client_settings(arguments.client);
  if (!settings) return cli::print_error(settings.error().what), cli::kExitUsage;
  settings->answer_timeout = std::min(settings->answer_timeout, kSilence);
  // A CA file that cannot be used is said before the screen is taken.
  if (const auto client = http::HttpClient::make(*settings); !client) {
    return cli::print_error(client.error().what), cli::kExitUsage;
  }
  TopFeed feed(*std::move(settings));
  const bool once = arguments.once || arguments.client.json || !cli::Screen::possible();
  return once ? run_once(arguments, feed) : run_live(arguments, feed);
}

}  // namespace

void add_top(cli::Command root) {
  cli::Command command = root.add(
      "top",
      "Watch a daemon: decisions, slots, dispatch types against their pace, queue, health.\n"
      "Redraws every second; q or Ctrl-C quits. Needs the admin token, if the daemon has one. "
      "Comes\n"
      "back by itself when the daemon was away. Where there is no terminal it prints one picture, "
      "as\n"
      "--once does.",
      {"penstock top", "penstock top --once", "penstock top --url http://127.0.0.1:8080 --json"});
  const auto arguments = std::make_shared<TopArguments>();
  command.flag("--once", "Print one picture, after two samples, and end", arguments->once);
  cli::add_client_options(command, arguments->client, "Print the figures as JSON once, and end");
  command.action([arguments] { return run_top(*arguments); });
}

}  // namespace penstock::tool
