# ONNX Runtime and LiteRT are opened at run time: the build needs only the C header of ONNX Runtime (third_party/onnxruntime), the
# tests need both libraries.
#
# Sets OUNCE_ONNXRUNTIME_HEADERS, OUNCE_ONNXRUNTIME_ROOT, and OUNCE_ONNXRUNTIME_LIBRARIES (only those for this machine; a folder
# such as 1.30.0-aarch64 is for another one).
set(OUNCE_ONNXRUNTIME_HEADERS ${PROJECT_SOURCE_DIR}/third_party/onnxruntime)
set(OUNCE_ONNXRUNTIME_ROOT ${PROJECT_SOURCE_DIR}/.deps/onnxruntime CACHE PATH
    "Where the program looks for <version>/lib/libonnxruntime.so")
set(OUNCE_LITERT_ROOT ${PROJECT_SOURCE_DIR}/.deps/litert CACHE PATH "Where the program looks for <version>/lib/libLiteRt.so")

file(GLOB OUNCE_ONNXRUNTIME_LIBRARIES ${OUNCE_ONNXRUNTIME_ROOT}/[0-9]*/lib/libonnxruntime.so)
list(FILTER OUNCE_ONNXRUNTIME_LIBRARIES INCLUDE REGEX "/[0-9.]+/lib/libonnxruntime.so$")
if(DEFINED ENV{OUNCE_ONNXRUNTIME} AND EXISTS $ENV{OUNCE_ONNXRUNTIME})
  set(OUNCE_ONNXRUNTIME_LIBRARIES $ENV{OUNCE_ONNXRUNTIME})
endif()

if(OUNCE_TESTS AND NOT OUNCE_ONNXRUNTIME_LIBRARIES)
  message(FATAL_ERROR "The tests load models in ONNX Runtime, which is not in ${OUNCE_ONNXRUNTIME_ROOT}: run ./setup runtime")
endif()
