# A CMake toolchain file: zig's C++ compiler, for an architecture and a glibc older than this machine's.
#
#   cmake --toolchain packaging/zig.cmake -DOUNCE_ARCH=aarch64 -DOUNCE_TOOLS=… -DOUNCE_PREFIX=…
#
# OUNCE_TOOLS has the wrappers that tools.sh writes, OUNCE_PREFIX the libraries that dependencies.sh builds.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR ${OUNCE_ARCH})
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES OUNCE_ARCH OUNCE_TOOLS OUNCE_PREFIX)

set(CMAKE_C_COMPILER ${OUNCE_TOOLS}/${OUNCE_ARCH}-cc)
set(CMAKE_CXX_COMPILER ${OUNCE_TOOLS}/${OUNCE_ARCH}-c++)
set(CMAKE_AR ${OUNCE_TOOLS}/ar)
set(CMAKE_RANLIB ${OUNCE_TOOLS}/ranlib)

# Do not search this machine's folders: their libraries and headers are for another C library.
set(CMAKE_FIND_ROOT_PATH ${OUNCE_PREFIX})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
set(ENV{PKG_CONFIG_LIBDIR} ${OUNCE_PREFIX}/lib/pkgconfig)
set(ENV{PKG_CONFIG_PATH} "")
