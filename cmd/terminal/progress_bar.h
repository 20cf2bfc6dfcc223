// One line on standard error that shows how far long work is, with the time that is left; nothing
// at all when standard error is no terminal. Erased when destroyed. One thread at a time.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

#include "core/base/progress.h"

namespace navtalk::cmd {

class ProgressBar {
 public:
  using Clock = std::chrono::steady_clock;

  explicit ProgressBar(bool visible) : visible_(visible) {}
  ~ProgressBar() { clear(); }
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  // Redraws at most ten times a second, and always when a stage begins or ends.
  void show(std::string_view stage, std::size_t done, std::size_t total);
  void clear();
  // show() as libraries call it; the bar must outlive it.
  Progress reporter();

 private:
  bool visible_;
  bool drawn_ = false;
  std::string stage_;
  Clock::time_point stage_start_, last_draw_;
};

// "decoding  [#######...............]  31%  310/1000  eta 0:42", at most `columns` wide.
std::string progress_line(std::string_view stage, std::size_t done, std::size_t total,
                          std::chrono::duration<double> elapsed, std::size_t columns);

}  // namespace navtalk::cmd
