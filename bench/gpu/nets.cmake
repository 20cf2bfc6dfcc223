# navtalk_nets_alone: the nets and what they need of navtalk, without OpenCV, FFmpeg and databases, which a machine with a GPU may lack.
# The objects of the nets and of the kernels are those of the preset cuda itself. For programs that run where there are libtorch and a
# driver: test_nets_device and gpu_bench_nets.
set(alone
  bench/gpu/no_warp.cpp
  cmd/bench/report.cpp
  cmd/terminal/table.cpp
  core/base/error.cpp
  core/base/frame_rate.cpp
  core/base/interrupt.cpp
  core/base/shortage.cpp
  core/checkpoint/byte_cursor.cpp
  core/checkpoint/checkpoint.cpp
  core/checkpoint/dtype.cpp
  core/checkpoint/mapped_file.cpp
  core/checkpoint/materialize.cpp
  core/checkpoint/pickle/numpy_number.cpp
  core/checkpoint/pickle/pickle.cpp
  core/checkpoint/pickle/pickle_numpy.cpp
  core/checkpoint/pickle/pickle_symbols.cpp
  core/checkpoint/pickle/pickled_tensors.cpp
  core/checkpoint/pickle/unpickler.cpp
  core/checkpoint/safetensors_reader.cpp
  core/checkpoint/safetensors_writer.cpp
  core/checkpoint/stored_tensor.cpp
  core/checkpoint/torch_legacy_reader.cpp
  core/checkpoint/torch_zip_reader.cpp
  core/checkpoint/truncation_guard.cpp
  core/checkpoint/zip_directory.cpp
  core/files/json_object.cpp
  core/files/whole_file.cpp
  core/log/log.cpp
  core/text/bounded_json.cpp
  core/text/printable.cpp
  core/text/rfc3339.cpp
  gpu/device/batch_parts.cpp
  gpu/device/device.cpp
  gpu/cuda/device_failure.cpp
  gpu/device/machine.cpp
  gpu/device/staging_ring.cpp
  gpu/features/windows.cpp
  gpu/image/blend.cpp
  gpu/image/color.cpp
  gpu/image/colour_match.cpp
  gpu/image/compose.cpp
  gpu/image/gaussian_blur.cpp
  gpu/image/pillow_resize.cpp
  gpu/image/resize.cpp
  gpu/image/resize_taps.cpp
  gpu/image/unsharp.cpp
  gpu/model/config_file.cpp
  gpu/model/face_boxes.cpp
  gpu/model/model_config.cpp
  gpu/model/model_files.cpp
  gpu/model/pose_points.cpp
  gpu/model/usable_device.cpp
  gpu/nets/execution.cpp
  gpu/nets/expected_tensors.cpp
  gpu/nets/faces/expected_bisenet.cpp
  gpu/nets/faces/expected_dwpose.cpp
  gpu/nets/faces/expected_s3fd.cpp
  gpu/nets/tensor_fit.cpp
  gpu/timing/bench_face.cpp
  gpu/timing/net_work.cpp
)
list(TRANSFORM alone PREPEND ${PROJECT_SOURCE_DIR}/)
add_library(navtalk_nets_alone STATIC EXCLUDE_FROM_ALL ${alone}
  $<TARGET_OBJECTS:navtalk_gpu_nets> $<TARGET_OBJECTS:navtalk_gpu_kernels> $<TARGET_OBJECTS:navtalk_cuda_kernels>)
set_source_files_properties(${PROJECT_SOURCE_DIR}/gpu/device/machine.cpp TARGET_DIRECTORY navtalk_nets_alone
  PROPERTIES INCLUDE_DIRECTORIES ${torch_dir}/include)
# libtorch's folder, with its own, newer fmt, is for the programs alone.
target_link_libraries(navtalk_nets_alone
  PUBLIC fmt::fmt spdlog::spdlog nlohmann_json::nlohmann_json Threads::Threads
  PRIVATE navtalk_flags
  INTERFACE libtorch::libtorch libtorch::gomp ${torch_dir}/lib/libc10_cuda.so
            ${NAVTALK_LIBTORCH_DIR}/nvidia/cu13/lib/libcudart.so.13 ${CMAKE_DL_LIBS})
target_compile_definitions(navtalk_nets_alone INTERFACE FMT_HEADER_ONLY)
target_include_directories(navtalk_nets_alone PUBLIC ${PROJECT_SOURCE_DIR})
target_include_directories(navtalk_nets_alone SYSTEM PUBLIC ${NAVTALK_LIBTORCH_DIR}/nvidia/cu13/include)
