// Times what a device does, by its own clock. Only for sources that include ATen.
#pragma once

#include <c10/core/Device.h>

#include <chrono>
#include <functional>
#include <stop_token>
#include <vector>

namespace navtalk {

// Of single calls of `work`, for `budget` and at least 100 times after five that do not count. On a GPU calls are put into the current stream
// one behind the other, each between two events, so that the device waits for the host only where launching takes longer than computing. On the
// CPU by the program's clock, at least three times after one. Error{interrupted}, Error{terminated} between calls.
std::vector<std::chrono::duration<double>> event_times(const c10::Device& device,
                                                       const std::function<void()>& work,
                                                       std::chrono::duration<double> budget,
                                                       const std::stop_token& stop);

}  // namespace navtalk
