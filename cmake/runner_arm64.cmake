# The target ounce_runner_arm64: build/ounce-runner-arm64, for boards and emulators. It exists only if Debian's
# g++-aarch64-linux-gnu is installed, and needs no other arm64 libraries: fmt is used header-only.
#
# Include it after OunceRuntime.cmake. Sets OUNCE_RUNNER_ARM64 (the program) if it can be built.
find_program(OUNCE_ARM64_COMPILER aarch64-linux-gnu-g++)
if(NOT OUNCE_ARM64_COMPILER OR CMAKE_SYSTEM_PROCESSOR STREQUAL "aarch64")
  return()
endif()
find_path(OUNCE_FMT_HEADERS fmt/format.h REQUIRED)

# The sources of a runner. They open a runtime, communicate with the host, read ONNX models to find their external data files,
# and read and write TFLite models to set the shapes of inputs.
set(sources
  base/cancel.cpp base/digest.cpp base/error.cpp base/machine.cpp base/text.cpp base/thread_pool.cpp data/tensor.cpp
  io/file_guard.cpp io/mapped_file.cpp io/output_file.cpp io/rope.cpp io/standard_error.cpp io/temporary_files.cpp
  formats/onnx/file/attributes.cpp formats/protobuf/cursor.cpp
  formats/onnx/file/model.cpp formats/onnx/file/reader.cpp formats/onnx/file/tensor_reader.cpp formats/onnx/file/types.cpp
  formats/tflite/edit/io_editor.cpp
  formats/tflite/file/archive.cpp formats/tflite/file/check.cpp formats/tflite/file/flatbuffer.cpp
  formats/tflite/file/model.cpp formats/tflite/file/ops.cpp formats/tflite/file/reader.cpp formats/tflite/file/sparsity.cpp
  formats/tflite/file/tables.cpp formats/tflite/file/writer.cpp
  model/model_file.cpp ops/op_info.cpp
  runner/main.cpp runtime/child_process.cpp runtime/executor.cpp runtime/litert_executor.cpp runtime/masked_cpu.cpp
  runtime/ort_executor.cpp runtime/serve.cpp runtime/wire.cpp runtime/litert/library.cpp runtime/litert/session.cpp
  runtime/ort/bound_run.cpp runtime/ort/c_api.cpp runtime/ort/library.cpp runtime/ort/session.cpp)

set(folder ${PROJECT_BINARY_DIR}/arm64)
# fmt is in this machine's /usr/include, which must come after the headers of the cross compiler.
set(flags -std=c++20 -O2 -DNDEBUG -DFMT_HEADER_ONLY -DXXH_INLINE_ALL -DOUNCE_DEVICE_RUNTIMES -Wall -Wextra -Werror -I${PROJECT_SOURCE_DIR}/src
  -I${PROJECT_SOURCE_DIR}/include -isystem ${OUNCE_ONNXRUNTIME_HEADERS} -idirafter ${OUNCE_FMT_HEADERS})
# One unity build, because there is no precompiled header for this architecture.
set(joined ${folder}/runner.cpp)
list(TRANSFORM sources REPLACE "(.+)" "#include \"\\1\"\n" OUTPUT_VARIABLE includes)
list(JOIN includes "" includes)
file(CONFIGURE OUTPUT ${joined} CONTENT "${includes}" @ONLY)
set(object ${folder}/runner.o)
add_custom_command(OUTPUT ${object}
  COMMAND ${OUNCE_ARM64_COMPILER} ${flags} -MMD -MF ${object}.d -MT ${object} -c ${joined} -o ${object}
  DEPENDS ${joined} DEPFILE ${object}.d COMMENT "Building the runner for arm64" VERBATIM)

# Links the C++ library statically, because a board may have an older one.
set(OUNCE_RUNNER_ARM64 ${PROJECT_BINARY_DIR}/ounce-runner-arm64)
add_custom_command(OUTPUT ${OUNCE_RUNNER_ARM64}
  COMMAND ${OUNCE_ARM64_COMPILER} -static-libstdc++ -static-libgcc -s ${object} -ldl -lpthread -o ${OUNCE_RUNNER_ARM64}
  DEPENDS ${object} COMMENT "Linking ounce-runner-arm64" VERBATIM)
add_custom_target(ounce_runner_arm64 ALL DEPENDS ${OUNCE_RUNNER_ARM64})
