// What a process that renders jobs and its worker say to each other about faces, on a socket that the process inherits. Both
// are the same program on the same machine, so numbers are sent as they are in memory.
//
//   process ──► worker     k_name bytes: the model that it would draw with, padded with zeros
//   worker ──► process     1: the worker draws with it; 0: it does not, and closes
//   process ──► worker     FaceQuestion, latent, window; at most k_most_questions without an answer
//   worker ──► process     FaceAnswer, and so many bytes: a face, or why there is none. In any order
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace navtalk::server {

// What a face depends on besides its latent and window.
struct FaceModel {
  std::string name{};       // equal ones draw the same bytes; at most k_model_name bytes
  int rows = 0, width = 0;  // of a window
};

inline constexpr std::size_t k_model_name = 1024;             // bytes
inline constexpr std::size_t k_latent_numbers = 8 * 32 * 32;  // floats
inline constexpr std::size_t k_face_bytes = 256 * 256 * 3;    // BGR
inline constexpr std::size_t k_most_questions = 32;

struct FaceQuestion {
  std::uint32_t number = 0;
};

struct FaceAnswer {
  std::uint32_t number = 0;
  std::uint32_t made = 0;   // 1: a face follows; 0: a message
  std::uint32_t bytes = 0;  // at most k_face_bytes
};

}  // namespace navtalk::server
