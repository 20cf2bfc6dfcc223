# `cmake --install` and `cpack -G DEB`.
