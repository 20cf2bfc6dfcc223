#include "runpod/remote_state.h"

namespace navtalk::runpod {
namespace {

using Kind = RemoteVerdict::Kind;

RemoteVerdict become(State state) {
  return {.kind = Kind::become,
          .state = state,
          .new_work = state == State::idle || state == State::running};
}

RemoteVerdict failed(std::string_view reason) {
  return {.kind = Kind::become, .state = State::failed, .reason = reason, .new_work = false};
}

RemoteVerdict gone(const RemoteView& view) {
  if (view.removal_asked) return {.kind = Kind::removed, .new_work = false};
  return failed("gone");
}

RemoteVerdict running(const RemoteView& view) {
  if (view.probe_good) return become(view.sessions > 0 ? State::running : State::idle);
  if (!view.was_ready) return become(State::starting);
  if (view.probe_failing > view.probe_grace) return failed("its worker does not answer");
  return {.kind = Kind::keep, .new_work = false};
}

}  // namespace

RemoteVerdict judge(const RemoteView& view) {
  if (view.absent) return gone(view);
  switch (view.status.value_or(PodStatus::unknown)) {
    case PodStatus::provisioning:
    case PodStatus::starting:
      return become(State::starting);
    case PodStatus::running:
      return running(view);
    case PodStatus::exited:
      return view.stop_asked ? become(State::paused) : failed("exited");
    case PodStatus::error:
      return failed("error");
    case PodStatus::terminated:
      return gone(view);
    case PodStatus::unknown:
      break;
  }
  return {.kind = Kind::keep, .stale = true, .new_work = view.probe_good};
}

Instance::Status instance_status(PodStatus status) {
  switch (status) {
    case PodStatus::provisioning:
    case PodStatus::starting:
      return Instance::Status::starting;
    case PodStatus::running:
      return Instance::Status::running;
    case PodStatus::exited:
      return Instance::Status::stopped;
    case PodStatus::error:
      return Instance::Status::failed;
    case PodStatus::terminated:
      return Instance::Status::gone;
    case PodStatus::unknown:
      break;
  }
  return Instance::Status::unknown;
}

}  // namespace navtalk::runpod
