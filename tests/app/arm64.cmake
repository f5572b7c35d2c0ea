# Tests libounce_app for arm64 under qemu-aarch64: a C program with the whole library, and ONNX Runtime for arm64. The test is
# left out if the cross compiler, the emulator or ONNX Runtime is missing.
find_program(OUNCE_QEMU_ARM64 qemu-aarch64)
find_program(OUNCE_ARM64_C_COMPILER aarch64-linux-gnu-gcc)
file(GLOB arm64_libraries ${OUNCE_ONNXRUNTIME_ROOT}/*-aarch64/lib/libonnxruntime.so)
if(NOT OUNCE_ARM64_COMPILER OR NOT OUNCE_ARM64_C_COMPILER OR NOT OUNCE_QEMU_ARM64 OR NOT arm64_libraries OR OUNCE_SANITIZE)
  return()
endif()
list(GET arm64_libraries 0 arm64_library)
get_property(files GLOBAL PROPERTY OUNCE_APP_FILES)
set(folder ${CMAKE_CURRENT_BINARY_DIR}/arm64)
# One unity build per folder, because names in anonymous namespaces may clash between folders.
foreach(file IN LISTS files)
  cmake_path(GET file PARENT_PATH layer)
  cmake_path(GET layer FILENAME layer)
  list(APPEND layers ${layer})
  string(APPEND includes_${layer} "#include \"${file}\"\n")
endforeach()
list(REMOVE_DUPLICATES layers)
set(flags -O1 -DNDEBUG -I${PROJECT_SOURCE_DIR}/src -I${PROJECT_SOURCE_DIR}/include)
set(definitions -DFMT_HEADER_ONLY -DOUNCE_SCALAR_KERNELS -DXXH_INLINE_ALL -DOUNCE_DEVICE_RUNTIMES -DOUNCE_ONNXRUNTIME_ROOT="" -DOUNCE_LITERT_ROOT="" -DOUNCE_RUNNER_BUILT="" -DOUNCE_RUNNER_INSTALLED=""
  -DOUNCE_VERSION="${PROJECT_VERSION}")
foreach(layer IN LISTS layers)
  file(CONFIGURE OUTPUT ${folder}/${layer}.cpp CONTENT "${includes_${layer}}" @ONLY)
  set(object ${folder}/${layer}.o)
  # Third-party headers do not depend on the machine. /usr/include comes last, after the headers of the cross compiler.
  add_custom_command(OUTPUT ${object}
    COMMAND ${OUNCE_ARM64_COMPILER} -std=c++20 ${flags} ${definitions} -isystem ${OUNCE_ONNXRUNTIME_HEADERS} -idirafter /usr/include
      -MMD -MF ${object}.d -MT ${object} -c ${folder}/${layer}.cpp -o ${object}
    DEPENDS ${folder}/${layer}.cpp DEPFILE ${object}.d COMMENT "Building ${layer} of libounce_app for arm64" VERBATIM)
  list(APPEND objects ${object})
endforeach()
add_custom_command(OUTPUT ${folder}/user
  COMMAND ${OUNCE_ARM64_C_COMPILER} -std=gnu99 ${flags} -c ${CMAKE_CURRENT_SOURCE_DIR}/user.c -o ${folder}/user.o
  COMMAND ${OUNCE_ARM64_COMPILER} -static-libstdc++ -static-libgcc ${folder}/user.o ${objects} -ldl -lpthread -o ${folder}/user
  DEPENDS ${objects} user.c COMMENT "Linking the C user's program for arm64" VERBATIM)
add_custom_target(app_user_arm64 ALL DEPENDS ${folder}/user)
add_test(NAME app.user_arm64
  COMMAND ${OUNCE_QEMU_ARM64} -L /usr/aarch64-linux-gnu ${folder}/user ${example} ${CMAKE_CURRENT_BINARY_DIR}/cache_arm64 ${arm64_library})
