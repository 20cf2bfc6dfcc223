#include "cmd/terminal/progress_bar.h"

#include <fmt/core.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace navtalk::cmd {
namespace {

std::size_t terminal_columns() {
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return size.ws_col;
}

std::string minutes(double seconds) {
  const auto whole = std::lround(seconds);
  return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

}  // namespace

std::string progress_line(std::string_view stage, std::size_t done, std::size_t total,
                          std::chrono::duration<double> elapsed, std::size_t columns) {
  std::string line;
  if (total == 0) {
    line = fmt::format("{}  {}", stage, done);
  } else {
    constexpr std::size_t k_width = 24;
    const double part = std::min(1.0, static_cast<double>(done) / static_cast<double>(total));
    const auto filled = static_cast<std::size_t>(part * k_width);
    line = fmt::format("{}  [{}{}]  {:3.0f}%  {}/{}", stage, std::string(filled, '#'),
                       std::string(k_width - filled, '.'), part * 100, done, total);
    if (done > 0 && done < total) {
      line += "  eta " + minutes(elapsed.count() * (1 - part) / part);
    }
  }
  return line.substr(0, columns);
}

void ProgressBar::show(std::string_view stage, std::size_t done, std::size_t total) {
  if (!visible_) return;
  const auto now = Clock::now();
  const bool begins = stage != stage_;
  if (begins) {
    stage_ = stage;
    stage_start_ = now;
  }
  const bool ends = total != 0 && done >= total;
  if (!begins && !ends && now - last_draw_ < std::chrono::milliseconds(100)) return;
  last_draw_ = now;
  drawn_ = true;
  const std::string line =
      progress_line(stage, done, total, now - stage_start_, terminal_columns() - 1);
  fmt::print(stderr, "\r{}\x1b[K", line);
}

void ProgressBar::clear() {
  if (drawn_) fmt::print(stderr, "\r\x1b[K");
  drawn_ = false;
}

Progress ProgressBar::reporter() {
  return [this](std::string_view stage, std::size_t done, std::size_t total) {
    show(stage, done, total);
  };
}

}  // namespace navtalk::cmd
