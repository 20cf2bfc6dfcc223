# CUDA 13: nvcc for the kernels, and the runtime that libtorch's wheel brings. Nothing here needs a device or a driver.
if(NOT CMAKE_CUDA_COMPILER AND EXISTS /usr/local/cuda/bin/nvcc)
  set(CMAKE_CUDA_COMPILER /usr/local/cuda/bin/nvcc)
endif()
# A100; A10 and RTX 30; L4, L40S and RTX 40; H100 and H200; and PTX for what comes later.
set(CMAKE_CUDA_ARCHITECTURES 80-real 86-real 89-real 90-real 90-virtual)
set(CMAKE_CUDA_RUNTIME_LIBRARY None)
enable_language(CUDA)
# CMake 3.25 does not know that nvcc 13 takes these.
set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION -std=c++20)
if(CMAKE_CUDA_COMPILER_VERSION VERSION_LESS 13)
  message(FATAL_ERROR "CUDA ${CMAKE_CUDA_COMPILER_VERSION} is too old: libtorch's wheel is made for CUDA 13")
endif()
find_program(CUDA_CCACHE ccache)
if(CUDA_CCACHE)
  set(CMAKE_CUDA_COMPILER_LAUNCHER ${CMAKE_CXX_COMPILER_LAUNCHER})
endif()

# navtalk_cuda_library(NAME source...) makes navtalk_NAME with the alias navtalk::NAME. Products are rounded before they are added,
# as everywhere (-ffp-contract=off).
function(navtalk_cuda_library name)
  add_library(navtalk_${name} STATIC ${ARGN})
  add_library(navtalk::${name} ALIAS navtalk_${name})
  target_include_directories(navtalk_${name} PUBLIC ${CMAKE_SOURCE_DIR})
  target_include_directories(navtalk_${name} SYSTEM PUBLIC ${NAVTALK_LIBTORCH_DIR}/nvidia/cu13/include)
  target_compile_options(navtalk_${name} PRIVATE
    "$<$<COMPILE_LANGUAGE:CUDA>:SHELL:--fmad=false --diag-suppress 554 -Xcompiler=-Wall,-Wextra>")
  target_link_libraries(navtalk_${name} PUBLIC ${NAVTALK_LIBTORCH_DIR}/nvidia/cu13/lib/libcudart.so.13)
endfunction()
