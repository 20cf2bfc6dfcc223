// The worker's end of a renderer process' questions for faces (face_wire.h): they are given to the inference engine as those
// of a job, which have what live sessions leave of it. Of the I/O thread. The process has read what strangers sent, so
// nothing that comes is believed: questions have one size, and are read only while few are without an answer.
#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <cstdint>
#include <memory>

#include "core/base/unique_fd.h"
#include "gpu/engine/inference_engine.h"
#include "server/worker/job/face_wire.h"

namespace navtalk::server {

class FaceChannel {
 public:
  // `job`: a number of no session and no other channel. The engine outlives this object.
  FaceChannel(const boost::asio::any_io_executor& executor, UniqueFd socket,
              InferenceEngine& engine, FaceModel model, std::uint64_t job);
  // What the process asked for is dropped.
  ~FaceChannel();
  FaceChannel(const FaceChannel&) = delete;
  FaceChannel& operator=(const FaceChannel&) = delete;

  // The process would draw with another model, and loads its own.
  bool refused() const;

 private:
  class Link;
  const std::shared_ptr<Link> link_;
};

}  // namespace navtalk::server
