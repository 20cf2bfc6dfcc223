#include "scheduler/queue/withdrawn.h"

namespace navtalk {

bool withdrawn(std::span<const Gpu> gpus) {
  bool held_back = false;
  for (const Gpu& gpu : gpus) {
    if (gpu.state == State::failed) continue;  // serves nobody, whoever is at fault
    if (!gpu.draining && !(gpu.state == State::paused && kept_paused(gpu))) return false;
    held_back = true;
  }
  return held_back;
}

}  // namespace navtalk
