# What every target of ours has in common, how a folder of src/ becomes a layer, and what makes the build short.
#
# Most of a compiler's time here would go to headers, other people's and ours, and to templates that each file makes anew.
# So all layers share one precompiled header (OUNCE_PRECOMPILED), and the files of a folder are compiled in batches, several
# as one. In a batch the names of the files' anonymous namespaces meet: what two files of a folder call the same is the same
# thing, and shared, or gets a name that says the difference. OUNCE_JOIN=OFF compiles every file alone, as clang-tidy sees it.
option(OUNCE_JOIN "Precompile headers and compile files in batches" ON)
if(NOT OUNCE_JOIN)
  set(CMAKE_DISABLE_PRECOMPILE_HEADERS ON)
endif()
set(OUNCE_PRECOMPILED
  <algorithm> <array> <cmath> <cstdint> <cstring> <filesystem> <functional> <limits> <map> <memory> <mutex> <numeric>
  <optional> <set> <span> <string> <string_view> <thread> <unordered_map> <utility> <variant> <vector>
  <fmt/format.h> <fmt/ranges.h> <nlohmann/json.hpp> <ounce/error.h>)

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

# ounce_false_alarms(target): GCC 12 forgets that what it has precompiled are the system's headers, and reports its false
# alarms in std::string. The preset debug compiles every file alone, with these warnings.
function(ounce_false_alarms target)
  if(OUNCE_JOIN AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${target} PRIVATE -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread)
  endif()
endfunction()

# ounce_batches(target): compiles OUNCE_BATCH of its files as one. More would save little, and a change recompiles a batch.
set(OUNCE_BATCH 12)
function(ounce_batches target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${OUNCE_JOIN} UNITY_BUILD_BATCH_SIZE ${OUNCE_BATCH})
endfunction()

# ounce_batches_by_folder(target source …): likewise, but no batch has files of two folders.
function(ounce_batches_by_folder target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${OUNCE_JOIN} UNITY_BUILD_MODE GROUP)
  foreach(source IN LISTS ARGN)
    cmake_path(GET source PARENT_PATH folder)
    cmake_path(GET folder FILENAME folder)
    math(EXPR batch "0${files_of_${folder}} / ${OUNCE_BATCH}")
    math(EXPR files_of_${folder} "0${files_of_${folder}} + 1")
    set_source_files_properties(${source} PROPERTIES UNITY_GROUP ${folder}_${batch})
  endforeach()
endfunction()

# ounce_idle(target): what parses options, asks others to compute, and prints what they found. Most of its compile time went
# into inlining containers that hold ten elements; at -O1 nobody can tell the difference.
function(ounce_idle target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
endfunction()

# ounce_layer(name SOURCES a.cpp … [USES library …] [TESTS a_test.cpp …] [ALONE] [IDLE])
# Sources become part of libounce; tests (beside their sources) join the one test program. ALONE: files that include
# themselves, as Highway's do, are no part of a batch. IDLE: ounce_idle().
function(ounce_layer name)
  cmake_parse_arguments(LAYER "ALONE;IDLE" "" "SOURCES;USES;TESTS" ${ARGN})
  add_library(ounce_${name} OBJECT ${LAYER_SOURCES})
  target_include_directories(ounce_${name} PUBLIC ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
  target_link_libraries(ounce_${name} PRIVATE ounce_flags ${LAYER_USES})
  if(name STREQUAL "base")
    target_precompile_headers(ounce_base PRIVATE ${OUNCE_PRECOMPILED})
  else()
    target_precompile_headers(ounce_${name} REUSE_FROM ounce_base)
  endif()
  if(NOT LAYER_ALONE)
    ounce_batches(ounce_${name})
  endif()
  if(LAYER_IDLE)
    ounce_idle(ounce_${name})
  endif()
  set_property(GLOBAL APPEND PROPERTY OUNCE_LAYERS ounce_${name})
  set_property(GLOBAL APPEND PROPERTY OUNCE_USES ${LAYER_USES})
  foreach(test IN LISTS LAYER_TESTS)
    set_property(GLOBAL APPEND PROPERTY OUNCE_UNIT_TESTS ${CMAKE_CURRENT_SOURCE_DIR}/${test})
  endforeach()
endfunction()
