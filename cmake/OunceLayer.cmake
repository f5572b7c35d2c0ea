# What every target of ours has in common, how a folder of src/ becomes a layer, and what makes the build short.
#
# About half of a compiler's time here goes to other people's headers. All layers share one precompiled header
# (OUNCE_PRECOMPILED); folders in which every file includes one that costs seconds of its own (CLI11, nlohmann/json) are
# compiled in batches, several files as one. In a batch, names of the files' anonymous namespaces meet, so a folder says
# that it is BATCHED. OUNCE_JOIN=OFF compiles every file alone, as clang-tidy sees it.
option(OUNCE_JOIN "Precompile headers and compile some folders in batches" ON)
if(NOT OUNCE_JOIN)
  set(CMAKE_DISABLE_PRECOMPILE_HEADERS ON)
endif()
set(OUNCE_PRECOMPILED
  <algorithm> <array> <cmath> <cstdint> <cstring> <filesystem> <functional> <limits> <map> <memory> <mutex> <numeric>
  <optional> <set> <span> <string> <string_view> <thread> <unordered_map> <utility> <variant> <vector>
  <fmt/format.h> <fmt/ranges.h> <ounce/error.h>)

add_library(ounce_flags INTERFACE)
target_compile_features(ounce_flags INTERFACE cxx_std_20)
target_compile_options(ounce_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wold-style-cast
  -Wnon-virtual-dtor -Woverloaded-virtual -Wcast-qual -Wformat=2 -Werror
  # The same bytes on every machine: no fused multiply-add that only some CPUs have.
  -ffp-contract=off)
# A precompiled header serves only compilations with its own definitions: what one layer needs, all have.
target_link_libraries(ounce_flags INTERFACE fmt::fmt)
target_compile_options(ounce_flags INTERFACE -pthread)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(ounce_flags INTERFACE -fpch-preprocess)  # so that ccache can tell what was precompiled
endif()
if(OUNCE_SANITIZE)
  target_compile_options(ounce_flags INTERFACE -fsanitize=${OUNCE_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(ounce_flags INTERFACE -fsanitize=${OUNCE_SANITIZE})
endif()

# ounce_false_alarms(source …): GCC 12 forgets that what it has precompiled are the system's headers, and reports its false
# alarms in std::string. The presets debug, asan and tsan compile every file alone, with these warnings.
function(ounce_false_alarms)
  if(OUNCE_JOIN AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    set_source_files_properties(${ARGN} PROPERTIES
      COMPILE_OPTIONS "-Wno-array-bounds;-Wno-stringop-overflow;-Wno-stringop-overread")
  endif()
endfunction()

# ounce_batches(target size): compiles `size` files as one.
function(ounce_batches target size)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${OUNCE_JOIN} UNITY_BUILD_BATCH_SIZE ${size})
endfunction()

# ounce_layer(name SOURCES a.cpp … [USES library …] [TESTS a_test.cpp …] [BATCHED size])
# Sources become part of libounce; tests (beside their sources) join the one test program.
function(ounce_layer name)
  cmake_parse_arguments(LAYER "" "BATCHED" "SOURCES;USES;TESTS" ${ARGN})
  add_library(ounce_${name} OBJECT ${LAYER_SOURCES})
  target_include_directories(ounce_${name} PUBLIC ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
  target_link_libraries(ounce_${name} PRIVATE ounce_flags ${LAYER_USES})
  if(name STREQUAL "base")
    target_precompile_headers(ounce_base PRIVATE ${OUNCE_PRECOMPILED})
  else()
    target_precompile_headers(ounce_${name} REUSE_FROM ounce_base)
  endif()
  if(LAYER_BATCHED)
    ounce_batches(ounce_${name} ${LAYER_BATCHED})
  endif()
  set_property(GLOBAL APPEND PROPERTY OUNCE_LAYERS ounce_${name})
  set_property(GLOBAL APPEND PROPERTY OUNCE_USES ${LAYER_USES})
  foreach(test IN LISTS LAYER_TESTS)
    set_property(GLOBAL APPEND PROPERTY OUNCE_UNIT_TESTS ${CMAKE_CURRENT_SOURCE_DIR}/${test})
  endforeach()
endfunction()
