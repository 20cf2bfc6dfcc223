# libtorch 2.11.0 out of the PyTorch wheel: one build serves CPU and GPU. `scripts/libtorch` unpacks it.
# The wheel's own TorchConfig.cmake insists on a CUDA toolkit, so the two libraries are imported here.
set(NAVTALK_LIBTORCH_DIR ${NAVTALK_CACHE}/libtorch-2.11.0 CACHE PATH "Where scripts/libtorch unpacked the wheels")
set(torch_dir ${NAVTALK_LIBTORCH_DIR}/torch)
if(NOT EXISTS ${torch_dir}/lib/libtorch_cpu.so)
  message(FATAL_ERROR "libtorch is not in ${NAVTALK_LIBTORCH_DIR}: run scripts/libtorch first")
endif()

set(NAVTALK_TORCH_RPATH ${torch_dir}/lib ${NAVTALK_LIBTORCH_DIR}/nvidia/cu13/lib
                        ${NAVTALK_LIBTORCH_DIR}/nvidia/cuda_cupti/lib)
add_library(libtorch INTERFACE)
add_library(libtorch::libtorch ALIAS libtorch)
foreach(lib torch_cpu c10)
  add_library(libtorch_${lib} SHARED IMPORTED)
  set_target_properties(libtorch_${lib} PROPERTIES IMPORTED_LOCATION ${torch_dir}/lib/lib${lib}.so)
  target_link_libraries(libtorch INTERFACE libtorch_${lib})
endforeach()
# One OpenMP runtime in the process: the wheel's, which libtorch_cpu.so loads anyway. The compiler's own is the same library.
add_library(libtorch::gomp SHARED IMPORTED)
set_target_properties(libtorch::gomp PROPERTIES IMPORTED_LOCATION ${torch_dir}/lib/libgomp.so.1)
target_include_directories(libtorch SYSTEM INTERFACE ${torch_dir}/include ${torch_dir}/include/torch/csrc/api/include)
# libtorch_cpu.so needs libcudart and libcupti, which it finds through its own run path at run time.
target_link_options(libtorch INTERFACE -Wl,--unresolved-symbols=ignore-in-shared-libs)
foreach(dir ${NAVTALK_TORCH_RPATH})
  target_link_options(libtorch INTERFACE -Wl,-rpath-link,${dir})
endforeach()
