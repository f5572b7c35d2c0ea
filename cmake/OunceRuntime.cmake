# ONNX Runtime, as ./setup runtime leaves it: headers to build the layer runtime with, libraries to open at run time.
#
# OUNCE_RUNTIME=AUTO (the default) builds the layer when the headers are there, ON insists, OFF leaves it out.
# Sets OUNCE_HAS_RUNTIME, OUNCE_ONNXRUNTIME_HEADERS, OUNCE_ONNXRUNTIME_ROOT, and OUNCE_ONNXRUNTIME_LIBRARIES (for this
# machine; a folder such as 1.30.0-aarch64 is for another).
set(OUNCE_RUNTIME AUTO CACHE STRING "Build with ONNX Runtime: AUTO (if its headers are found), ON or OFF")
set_property(CACHE OUNCE_RUNTIME PROPERTY STRINGS AUTO ON OFF)
set(OUNCE_ONNXRUNTIME_ROOT ${PROJECT_SOURCE_DIR}/.deps/onnxruntime CACHE PATH
    "Where the program looks for <version>/lib/libonnxruntime.so")

set(OUNCE_HAS_RUNTIME FALSE)
if(OUNCE_RUNTIME STREQUAL "AUTO" OR OUNCE_RUNTIME)
  find_path(OUNCE_ONNXRUNTIME_HEADERS onnxruntime_c_api.h
            PATHS ${OUNCE_ONNXRUNTIME_ROOT}/include PATH_SUFFIXES onnxruntime)
  if(OUNCE_ONNXRUNTIME_HEADERS)
    set(OUNCE_HAS_RUNTIME TRUE)
  elseif(NOT OUNCE_RUNTIME STREQUAL "AUTO")
    message(FATAL_ERROR "OUNCE_RUNTIME=ON, but onnxruntime_c_api.h is not in ${OUNCE_ONNXRUNTIME_ROOT}/include: run ./setup runtime")
  endif()
endif()

file(GLOB OUNCE_ONNXRUNTIME_LIBRARIES ${OUNCE_ONNXRUNTIME_ROOT}/[0-9]*/lib/libonnxruntime.so)
list(FILTER OUNCE_ONNXRUNTIME_LIBRARIES INCLUDE REGEX "/[0-9.]+/lib/libonnxruntime.so$")
if(DEFINED ENV{OUNCE_ONNXRUNTIME} AND EXISTS $ENV{OUNCE_ONNXRUNTIME})
  set(OUNCE_ONNXRUNTIME_LIBRARIES $ENV{OUNCE_ONNXRUNTIME})
endif()

# The tests load what was written, so they need a library as well. Leaving that out takes a word: OUNCE_RUNTIME=OFF.
if(OUNCE_TESTS AND (OUNCE_RUNTIME STREQUAL "AUTO" OR OUNCE_RUNTIME))
  if(NOT OUNCE_HAS_RUNTIME OR NOT OUNCE_ONNXRUNTIME_LIBRARIES)
    message(FATAL_ERROR "The tests load models in ONNX Runtime, which is not in ${OUNCE_ONNXRUNTIME_ROOT}: "
      "run ./setup runtime (or build them without it: -DOUNCE_RUNTIME=OFF)")
  endif()
endif()
