// Host memory that a device copies from and to by itself, while the program goes on. Without knowledge of devices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>

namespace navtalk {

// A moment in a device's work.
class DeviceEvent {
 public:
  virtual ~DeviceEvent() = default;
  virtual bool done() = 0;
  virtual void wait() = 0;
};

// Blocks that are used again, never before the device is done with them. Thread-safe.
class StagingRing {
 public:
  // Memory that the device reaches. May throw.
  using Allocate = std::function<std::shared_ptr<std::uint8_t>(std::size_t bytes)>;

  // At most so many blocks are kept.
  StagingRing(std::size_t most, Allocate allocate);

  // Kept until the device is done with it. Goes back into the ring when its last holder lets go, also after the ring's own end.
  class Block {
   public:
    std::uint8_t* data() const { return memory_.get(); }
    std::size_t size() const { return size_; }
    // The device reads or writes it until then.
    void busy_until(std::shared_ptr<DeviceEvent> event) { event_ = std::move(event); }

   private:
    friend class StagingRing;
    std::shared_ptr<std::uint8_t> memory_{};
    std::size_t size_ = 0;
    std::shared_ptr<DeviceEvent> event_{};
  };

  // At least so many bytes, which nobody else uses: a free block whose event is done; else a new one; else, where as many as are kept are
  // only waiting for the device, the one that was given back first, once it is done. Errors of Allocate and of DeviceEvent::wait().
  std::shared_ptr<Block> take(std::size_t bytes);

 private:
  struct State {
    State() = default;
    ~State();
    State(const State&) = delete;
    State& operator=(const State&) = delete;

    std::mutex mutex{};
    std::list<Block> idle{};  // the one given back first is first
    std::size_t made = 0;     // of those that are kept
  };

  static void give_back(State& state, Block& block, bool keep);
  static void end_use(const Block& block);
  Block grown(Block block, std::size_t bytes) const;

  const std::size_t most_;
  const Allocate allocate_;
  const std::shared_ptr<State> state_ = std::make_shared<State>();
};

}  // namespace navtalk
