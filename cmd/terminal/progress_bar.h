// How far long work is, on standard error: a line that is redrawn on a terminal, a line every few
// seconds in a pipe, or JSON. What is drawn is erased when this object ends. One thread at a time.
#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/progress.h"

namespace navtalk::cmd {

enum class ProgressStyle { none, bar, lines, json };

// The step in a stage, and the time since its first report.
struct ProgressStep {
  std::string_view stage;
  std::size_t done = 0, total = 0;  // total 0: not known
  std::size_t first = 0;            // done at the first report
  std::chrono::duration<double> elapsed{};
};

class ProgressBar {
 public:
  using Clock = std::chrono::steady_clock;

  explicit ProgressBar(ProgressStyle style) : style_(style) {}
  ~ProgressBar() { clear(); }
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  // A bar is redrawn ten times a second, JSON written twice a second, both also when a stage begins or
  // ends; a line is written every five seconds.
  void show(std::string_view stage, std::size_t done, std::size_t total);
  void clear();
  // show() as libraries call it; the bar must outlive it.
  Progress reporter();

 private:
  bool is_due(bool begins, bool ends, Clock::time_point now) const;

  ProgressStyle style_;
  bool drawn_ = false;
  std::string stage_;
  std::size_t first_ = 0;
  Clock::time_point stage_start_, last_ = Clock::now();
};

// What is left of the stage by the speed so far; nullopt in its first second, when the speed is not
// yet known, and where the total is not.
std::optional<std::chrono::duration<double>> time_left(const ProgressStep& step);

// "decoding  [#######...............]  31%  310/1000  eta 0:42", at most `columns` wide.
std::string progress_line(const ProgressStep& step, std::size_t columns);
// {"stage":"decoding","done":310,"total":1000,"elapsed_s":19.0,"eta_s":42.3}; total and eta_s are null
// where they are not known.
std::string progress_json(const ProgressStep& step);

}  // namespace navtalk::cmd
