#include "server/worker/job/face_client.h"

#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <string>
#include <utility>

#include "core/base/error.h"
#include "core/files/whole_file.h"

namespace navtalk::server {
namespace {

constexpr int k_patience_ms = 1000;

[[noreturn]] void worker_is_gone() {
  throw Error(Code::failed, "the worker that draws faces has ended");
}

}  // namespace

FaceClient::FaceClient(UniqueFd socket, std::function<void()> waiting)
    : socket_(std::move(socket)), waiting_(std::move(waiting)) {}

void FaceClient::send(const void* data, std::size_t bytes) {
  const auto* from = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t n = ::send(socket_.value(), from, bytes, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) worker_is_gone();
    from += n;
    bytes -= static_cast<std::size_t>(n);
  }
}

void FaceClient::receive(void* data, std::size_t bytes) {
  auto* to = static_cast<char*>(data);
  while (bytes > 0) {
    pollfd readable{.fd = socket_.value(), .events = POLLIN, .revents = 0};
    if (::poll(&readable, 1, k_patience_ms) == 0) {
      if (waiting_) waiting_();
      continue;
    }
    const ssize_t n = ::recv(socket_.value(), to, bytes, 0);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) worker_is_gone();
    to += n;
    bytes -= static_cast<std::size_t>(n);
  }
}

bool FaceClient::agree(const FaceModel& model) {
  std::string name = model.name;
  if (name.size() > k_model_name) return false;
  name.resize(k_model_name);
  try {
    send(name.data(), name.size());
    std::uint8_t agreed = 0;
    receive(&agreed, sizeof agreed);
    return agreed == 1;
  } catch (const Error&) {
    return false;
  }
}

void FaceClient::ask(std::uint32_t number, const NdArray<float>& latents,
                     const NdArray<float>& windows) {
  const FaceQuestion question{.number = number};
  send(&question, sizeof question);
  send(latents.row(number), latents.stride0() * sizeof(float));
  send(windows.row(number), windows.stride0() * sizeof(float));
}

void FaceClient::take(NdArray<std::uint8_t>& faces) {
  FaceAnswer answer;
  receive(&answer, sizeof answer);
  if (answer.made != 1) {
    std::string why(answer.bytes, '\0');
    receive(why.data(), why.size());
    throw Error(Code::failed, "the worker drew no face: " + why);
  }
  if (answer.bytes != k_face_bytes || std::cmp_greater_equal(answer.number, faces.dim(0)))
    throw Error(Code::failed, "the worker drew another face than it was asked for");
  receive(faces.row(answer.number), k_face_bytes);
}

NdArray<std::uint8_t> FaceClient::faces(const NdArray<float>& latents,
                                        const NdArray<float>& windows) {
  NdArray<std::uint8_t> faces({latents.dim(0), 256, 256, 3});
  const auto count = static_cast<std::uint32_t>(latents.dim(0));
  std::uint32_t asked = 0;
  for (std::uint32_t taken = 0; taken < count; ++taken) {
    for (; asked < count && asked - taken < k_most_questions; ++asked) ask(asked, latents, windows);
    take(faces);
  }
  return faces;
}

}  // namespace navtalk::server
