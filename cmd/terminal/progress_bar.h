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

// What `done` and `total` count: things, or milliseconds of video, which are shown as minutes.
enum class ProgressUnit { things, video };

// The step in a stage, and the time since its first report.
struct ProgressStep {
  std::string_view stage;
  std::size_t done = 0, total = 0;  // total 0: not known
  std::size_t first = 0;            // done at the first report
  std::chrono::duration<double> elapsed{};
  ProgressUnit unit = ProgressUnit::things;
};

// Which reports of long work are shown: of a bar ten a second, of JSON two a second, both also when a
// stage begins or ends; a line every five seconds. A stage begins anew when it is reported again after
// its end, or from an earlier place: the next of several videos.
class ProgressSteps {
 public:
  using Clock = std::chrono::steady_clock;

  ProgressSteps(ProgressStyle style, Clock::time_point now) : style_(style), last_(now) {}
  // nullopt: it is not shown. The stage's name lives as long as this object, until the next call.
  std::optional<ProgressStep> take(std::string_view stage, std::size_t done, std::size_t total,
                                   Clock::time_point now);

 private:
  bool is_due(bool begins, bool ends, Clock::time_point now) const;

  ProgressStyle style_;
  std::string stage_;
  bool ended_ = false;
  std::size_t first_ = 0, done_ = 0;
  Clock::time_point stage_start_, last_;
};

class ProgressBar {
 public:
  explicit ProgressBar(ProgressStyle style)
      : style_(style), steps_(style, ProgressSteps::Clock::now()) {}
  ~ProgressBar() { clear(); }
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  void show(std::string_view stage, std::size_t done, std::size_t total);
  // The same for work that is measured in the length of its video.
  void show_video(std::string_view stage, std::chrono::milliseconds done,
                  std::chrono::milliseconds total);
  void clear();  // the bar, so that other text can be written; the next show() draws it again
  // show() as libraries call it; the bar must outlive it.
  Progress reporter();

 private:
  void show(const ProgressStep& step);

  ProgressStyle style_;
  ProgressSteps steps_;
  bool drawn_ = false;
};

// What is left of the stage by the speed so far; nullopt in its first second, when the speed is not
// yet known, and where the total is not.
std::optional<std::chrono::duration<double>> time_left(const ProgressStep& step);

// "decoding  [#######...............]  31%  310/1000  eta 0:42", at most `columns` wide.
std::string progress_line(const ProgressStep& step, std::size_t columns);
// {"stage":"decoding","done":310,"total":1000,"elapsed_s":19.0,"eta_s":42.3}; total and eta_s are null
// where they are not known. Of video, done and total are minutes, and "unit" is "video-minutes".
std::string progress_json(const ProgressStep& step);

}  // namespace navtalk::cmd
