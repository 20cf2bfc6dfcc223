#include "server/worker/job/renderers.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "core/log/log.h"

namespace navtalk::server {
namespace {

constexpr std::chrono::milliseconds k_look_every{100};

}  // namespace

Renderers::Renderers(const boost::asio::any_io_executor& executor, BlockingThreads& reapers,
                     RendererOptions options, DeviceRoom& room, InferenceEngine& engine,
                     Offer offer)
    : executor_(executor),
      reapers_(reapers),
      options_(std::move(options)),
      room_(room),
      engine_(engine),
      offer_(std::move(offer)),
      own_plan_(options_.first_peak),
      sharing_plan_(options_.first_sharing_peak),
      timer_(executor) {}

std::optional<FaceService> Renderers::faces() {
  std::optional<FaceModel> model = refused_ || !offer_ ? std::nullopt : offer_();
  if (!model) return std::nullopt;
  return FaceService{.engine = engine_, .model = std::move(*model), .job = ++last_job_};
}

Renderers::Place::Place(Renderers& all, bool shares, MemoryReservation device)
    : all_(all), shares_(shares), device_(std::move(device)) {
  all_.places_.push_back(this);
}

// A job that never began leaves the process that waits what it has.
Renderers::Place::~Place() {
  all_.places_.remove(this);
  if (all_.idle_ && !all_.idle_->holds_memory()) all_.idle_->hold(std::move(device_));
}

RendererProcess& Renderers::Place::start() {
  if (all_.idle_ && !all_.idle_->ended()) {
    process_ = std::move(all_.idle_);
  } else {
    process_ =
        std::make_unique<RendererProcess>(all_.executor_, all_.reapers_, all_.options_.command,
                                          shares_ ? all_.faces() : std::nullopt);
  }
  if (device_.bytes() > 0) process_->hold(std::exchange(device_, MemoryReservation()));
  all_.watch();
  return *process_;
}

void Renderers::Place::give_back(bool well) {
  most_ = std::max(most_, resident());
  if (well && most_ > 0) plan().learn(most_);
  if (shares_ && !shares()) {
    log::warn("a renderer has other model files than this worker: jobs have nets of their own");
    all_.refused_ = true;
  }
  process_->on_activity({});
  all_.idle_ = std::move(process_);
}

bool Renderers::Place::look(const std::optional<MemoryRoom>& room) {
  if (!process_) return false;
  const std::uint64_t now = resident();
  most_ = std::max(most_, now);
  if (!process_->why_ended().empty()) return true;
  if (auto why = plan().excess(room, now)) process_->end(std::move(*why));
  return true;
}

bool Renderers::fits() const {
  const std::optional<MemoryRoom> room = memory_room();
  if (!room) return true;
  std::uint64_t missing =
      plan(idle_ ? idle_->shares_nets() : sharing()).missing(idle_ ? idle_->resident() : 0);
  for (const Place* place : places_) missing += place->missing();
  return MemoryPlan::fits(*room, missing);
}

void Renderers::end_all() {
  drop_idle();
  for (Place* place : places_) place->drop();
}

std::shared_ptr<Renderers::Place> Renderers::reserve() {
  if (!fits() && idle_) drop_idle();
  if (!fits()) return refuse();
  const bool shares = sharing();
  std::optional<MemoryReservation> device = shares ? MemoryReservation() : reserve_device();
  return device ? std::make_shared<Place>(*this, shares, std::move(*device)) : refuse();
}

// The process that waits goes on with what it has, or the next one where it has died.
std::optional<MemoryReservation> Renderers::reserve_device() {
  if (idle_ && idle_->holds_memory()) return idle_->give_back();
  return room_.admit_job();
}

std::shared_ptr<Renderers::Place> Renderers::refuse() const {
  log::warn("a job is refused for lack of memory",
            {{"reserved", needs()}, {"jobs", std::to_string(places_.size())}});
  return nullptr;
}

std::string Renderers::needs() const {
  const bool shares = sharing();
  std::string text = std::to_string(plan(shares).peak() >> 20) + " MiB";
  if (const std::uint64_t device = shares ? 0 : room_.of_job())
    text += " and " + std::to_string(device >> 20) + " MiB of the device";
  return text;
}

void Renderers::watch() {
  if (std::exchange(watching_, true)) return;
  look();
}

void Renderers::look() {
  const std::optional<MemoryRoom> room = memory_room();
  watching_ = false;
  for (Place* place : places_) watching_ |= place->look(room);
  if (!watching_) return;
  timer_.expires_after(k_look_every);
  timer_.async_wait([this](const boost::system::error_code& ended) {
    if (!ended) look();
  });
}

}  // namespace navtalk::server
