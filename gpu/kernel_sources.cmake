# Sources of the CUDA kernels, relative to gpu/: compiled by nvcc for the library and for bench/gpu, and as C++ by the emulation of
# tests/gpu, which every kernel has to pass.
set(navtalk_kernel_sources
  image/blend.cu
  image/color.cu
  image/gaussian_blur.cu
  image/paste.cu
  image/resize.cu
  image/scale.cu
  image/unsharp.cu
  kernels/group_norm.cu
  kernels/row_ops.cu
)
