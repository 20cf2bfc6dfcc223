#include "cmd/terminal/progress_bar.h"

#include <fmt/core.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "cmd/terminal/standard_error.h"

namespace navtalk::cmd {
namespace {

using namespace std::chrono_literals;

std::size_t terminal_columns() {
  winsize size{};
  if (ioctl(STDERR_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return size.ws_col;
}

std::string minutes(double seconds) {
  const auto whole = std::lround(seconds);
  return fmt::format("{}:{:02}", whole / 60, whole % 60);
}

double video_minutes(std::size_t milliseconds) {
  return static_cast<double>(milliseconds) / 60'000;
}

// "310/1000", "1.25/40.00 video-minutes".
std::string amounts(const ProgressStep& step) {
  if (step.unit == ProgressUnit::things) return fmt::format("{}/{}", step.done, step.total);
  return fmt::format("{:.2f}/{:.2f} video-minutes", video_minutes(step.done),
                     video_minutes(step.total));
}

double thousandths(double number) { return std::round(1000 * number) / 1000; }

double tenths(std::chrono::duration<double> time) { return std::round(10 * time.count()) / 10; }

}  // namespace

std::optional<std::chrono::duration<double>> time_left(const ProgressStep& step) {
  if (step.elapsed < 1s || step.done <= step.first || step.done >= step.total) return std::nullopt;
  return step.elapsed * (static_cast<double>(step.total - step.done) /
                         static_cast<double>(step.done - step.first));
}

std::string progress_line(const ProgressStep& step, std::size_t columns) {
  std::string line;
  if (step.total == 0) {
    line = fmt::format("{}  {}", step.stage, step.done);
  } else {
    constexpr std::size_t k_width = 24;
    const double part =
        std::min(1.0, static_cast<double>(step.done) / static_cast<double>(step.total));
    const auto filled = static_cast<std::size_t>(part * k_width);
    line = fmt::format("{}  [{}{}]  {:3.0f}%  {}", step.stage, std::string(filled, '#'),
                       std::string(k_width - filled, '.'), part * 100, amounts(step));
    if (const auto left = time_left(step)) line += "  eta " + minutes(left->count());
  }
  return line.substr(0, columns);
}

std::string progress_json(const ProgressStep& step) {
  nlohmann::ordered_json object = {{"stage", step.stage}, {"done", step.done}, {"total", nullptr}};
  if (step.total > 0) object["total"] = step.total;
  if (step.unit == ProgressUnit::video) {
    object["done"] = thousandths(video_minutes(step.done));
    object["total"] = thousandths(video_minutes(step.total));
    object["unit"] = "video-minutes";
  }
  object["elapsed_s"] = tenths(step.elapsed);
  object["eta_s"] = nullptr;
  if (const auto left = time_left(step)) object["eta_s"] = tenths(*left);
  return object.dump();
}

bool ProgressSteps::is_due(bool begins, bool ends, Clock::time_point now) const {
  switch (style_) {
    case ProgressStyle::bar:
      return begins || ends || now - last_ >= 100ms;
    case ProgressStyle::json:
      return begins || ends || now - last_ >= 500ms;
    case ProgressStyle::lines:
      return !ends && now - last_ >= 5s;
    case ProgressStyle::none:
      break;
  }
  return false;
}

std::optional<ProgressStep> ProgressSteps::take(std::string_view stage, std::size_t done,
                                                std::size_t total, Clock::time_point now) {
  const bool begins = stage != stage_ || done < done_ || ended_;
  if (begins) {
    stage_ = stage;
    stage_start_ = now;
    first_ = done;
  }
  done_ = done;
  ended_ = total != 0 && done >= total;
  if (!is_due(begins, ended_, now)) return std::nullopt;
  last_ = now;
  return ProgressStep{.stage = stage_,
                      .done = done,
                      .total = total,
                      .first = first_,
                      .elapsed = now - stage_start_};
}

void ProgressBar::show(std::string_view stage, std::size_t done, std::size_t total) {
  const std::optional<ProgressStep> step =
      steps_.take(stage, done, total, ProgressSteps::Clock::now());
  if (step) show(*step);
}

void ProgressBar::show_video(std::string_view stage, std::chrono::milliseconds done,
                             std::chrono::milliseconds total) {
  auto step = steps_.take(stage, static_cast<std::size_t>(done.count()),
                          static_cast<std::size_t>(total.count()), ProgressSteps::Clock::now());
  if (!step) return;
  step->unit = ProgressUnit::video;
  show(*step);
}

void ProgressBar::show(const ProgressStep& step) {
  if (style_ == ProgressStyle::bar) {
    drawn_ = true;
    write_standard_error(fmt::format("\r{}\x1b[K", progress_line(step, terminal_columns() - 1)));
  } else if (style_ == ProgressStyle::json) {
    write_standard_error(progress_json(step) + "\n");
  } else {
    write_standard_error(progress_line(step, std::string::npos) + "\n");
  }
}

void ProgressBar::clear() {
  if (drawn_) write_standard_error("\r\x1b[K");
  drawn_ = false;
}

Progress ProgressBar::reporter() {
  return [this](std::string_view stage, std::size_t done, std::size_t total) {
    show(stage, done, total);
  };
}

}  // namespace navtalk::cmd
