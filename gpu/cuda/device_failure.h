// Which of CUDA's errors say more than that one call failed; known by their numbers, which never change, so that this builds without CUDA.
#pragma once

#include <string>
#include <string_view>

namespace navtalk {

// Throws what an error of the CUDA runtime with that number is: OutOfMemory, DeviceLost, or Error{failed}.
[[noreturn]] void throw_device_failure(int cuda_error, std::string message);

// For errors that come without a number: what libtorch says where a library on the device has no memory.
bool tells_of_memory(std::string_view message);

}  // namespace navtalk
