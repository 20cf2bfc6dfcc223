// Faces that a worker draws for the process that renders its jobs, which needs no UNet and no decoder then. One thread at
// a time.
#pragma once

#include <cstdint>
#include <functional>

#include "core/base/unique_fd.h"
#include "core/tensor/ndarray.h"
#include "server/worker/job/face_wire.h"

namespace navtalk::server {

class FaceClient {
 public:
  // `socket`: the worker's, connected. `waiting` is called about once a second while nothing comes, since sessions go first.
  explicit FaceClient(UniqueFd socket, std::function<void()> waiting = {});

  // Asks whether the worker draws with that model; before everything else, once. False also when nobody is there.
  bool agree(const FaceModel& model);
  // As Model::faces(): [B,8,32,32], [B,T,D] -> [B,256,256,3] BGR. Error{failed} when the worker cannot draw or has ended.
  NdArray<std::uint8_t> faces(const NdArray<float>& latents, const NdArray<float>& windows);

 private:
  void send(const void* data, std::size_t bytes);
  void receive(void* data, std::size_t bytes);
  void ask(std::uint32_t number, const NdArray<float>& latents, const NdArray<float>& windows);
  void take(NdArray<std::uint8_t>& faces);

  const UniqueFd socket_;
  const std::function<void()> waiting_;
};

}  // namespace navtalk::server
