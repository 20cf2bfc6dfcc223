# `cmake --install` and `cpack -G DEB`.
#
#   bin/navtalk              finds the module beside itself, at ../lib/navtalk, so any prefix works
#   lib/navtalk/             the modules, run path $ORIGIN; libtorch and what it needs: Debian's own libtorch is too old
#   share/navtalk/demo/      demo models and avatar, which data_directory() finds beside bin/
#   share/man, share/doc/navtalk

# What the module and libtorch_cpu.so load from the wheels; everything else comes from Debian.
set(wheel_libraries
  ${torch_dir}/lib/libtorch_cpu.so
  ${torch_dir}/lib/libc10.so
  ${torch_dir}/lib/libgomp.so.1
  ${NAVTALK_LIBTORCH_DIR}/nvidia/cu13/lib/libcudart.so.13
  ${NAVTALK_LIBTORCH_DIR}/nvidia/cu13/lib/libcupti.so.13)
if(NAVTALK_CUDA)
  # libtorch_cuda.so and what it needs, 3 GB, are loaded where they are: packaging/cuda-libraries puts them beside these.
  list(APPEND wheel_libraries ${torch_dir}/lib/libc10_cuda.so)
endif()
set(doc_dir ${CMAKE_INSTALL_DATAROOTDIR}/doc/navtalk)

if(NAVTALK_TORCH AND NOT NAVTALK_FUZZ)
  set_target_properties(navtalk_module PROPERTIES INSTALL_RPATH "$ORIGIN")
  install(TARGETS navtalk RUNTIME DESTINATION bin)
  install(TARGETS navtalk_module navtalk_media_module LIBRARY DESTINATION lib/navtalk)
  install(FILES ${wheel_libraries} DESTINATION lib/navtalk)
  # A fifth of libtorch_cpu.so is symbol names that no loader reads. NVIDIA's files stay as they are.
  install(CODE [[
    if(CMAKE_INSTALL_DO_STRIP)
      foreach(library libtorch_cpu.so libc10.so)
        execute_process(COMMAND strip --strip-unneeded "$ENV{DESTDIR}${CMAKE_INSTALL_PREFIX}/lib/navtalk/${library}"
                        COMMAND_ERROR_IS_FATAL ANY)
      endforeach()
    endif()
  ]])
  install(DIRECTORY assets/demo DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/navtalk)
  install(DIRECTORY man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1 OPTIONAL FILES_MATCHING PATTERN "*.1")
  install(DIRECTORY man/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man5 OPTIONAL FILES_MATCHING PATTERN "*.5")
  install(FILES completions/navtalk.bash DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/bash-completion/completions
          RENAME navtalk)
  install(FILES completions/_navtalk DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/zsh/vendor-completions)
  install(FILES completions/navtalk.fish DESTINATION ${CMAKE_INSTALL_DATAROOTDIR}/fish/vendor_completions.d)
  install(FILES packaging/systemd/navtalk.service packaging/systemd/navtalk-scale.service
                packaging/systemd/navtalk-scale.timer DESTINATION lib/systemd/system)
  install(FILES packaging/systemd/navtalk.sysusers DESTINATION lib/sysusers.d RENAME navtalk.conf)
  install(FILES packaging/navtalk.toml DESTINATION ${doc_dir}/examples OPTIONAL)
  install(FILES packaging/prometheus/navtalk-alerts.yml packaging/grafana/navtalk.json DESTINATION ${doc_dir}/examples)
  install(FILES README.md CHANGELOG.md packaging/THIRD-PARTY.md DESTINATION ${doc_dir})
  install(FILES LICENSE DESTINATION ${doc_dir} RENAME copyright)
  install(DIRECTORY docs/ DESTINATION ${doc_dir} FILES_MATCHING PATTERN "*.md")
  foreach(wheel torch-2.11.0 nvidia_cuda_runtime-13.0.96 nvidia_cuda_cupti-13.0.85)
    install(DIRECTORY ${NAVTALK_LIBTORCH_DIR}/${wheel}.dist-info/licenses/ DESTINATION ${doc_dir}/licenses/${wheel})
  endforeach()
endif()

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME navtalk)
set(CPACK_PACKAGE_CONTACT "navtalk maintainers <maintainers@navtalk.invalid>")
set(CPACK_PACKAGE_DESCRIPTION_FILE ${CMAKE_SOURCE_DIR}/packaging/description.txt)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION video)
set(CPACK_DEBIAN_COMPRESSION_TYPE zstd)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${NAVTALK_TORCH_RPATH})
# The face finder's cascades, and what gives it landmarks; speech for `infer --text`, which runs espeak-ng as a process.
# The time zones of schedules.
set(CPACK_DEBIAN_PACKAGE_DEPENDS "opencv-data, tzdata")
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS "espeak-ng, libdlib-data")
include(CPack)
