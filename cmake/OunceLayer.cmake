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
set(OUNCE_BATCH 8)
function(ounce_batches target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${OUNCE_JOIN} UNITY_BUILD_BATCH_SIZE ${OUNCE_BATCH})
endfunction()

# ounce_batches_by_folder(target source …): likewise, but no batch has files of two folders.
function(ounce_batches_by_folder target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${OUNCE_JOIN} UNITY_BUILD_MODE GROUP)
  foreach(source IN LISTS ARGN)
    cmake_path(RELATIVE_PATH source BASE_DIRECTORY ${PROJECT_SOURCE_DIR}/src OUTPUT_VARIABLE folder)
    cmake_path(GET folder PARENT_PATH folder)
    string(REPLACE "/" "_" folder "${folder}")
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

# ounce_layer(name [USES library …] [ADDED source …] [EXCEPT source …] [ALONE] [IDLE])
# Every source in the folder and below becomes part of libounce; every test (*_test.cpp, beside its source) joins the one
# test program. ADDED: sources that the build generates. EXCEPT: sources that belong to another target. ALONE: files that include themselves, as Highway's do, are no part
# of a batch. IDLE: ounce_idle().
function(ounce_layer name)
  cmake_parse_arguments(LAYER "ALONE;IDLE" "" "USES;ADDED;EXCEPT" ${ARGN})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS *.cpp)
  foreach(source IN LISTS LAYER_EXCEPT)
    list(REMOVE_ITEM sources ${CMAKE_CURRENT_SOURCE_DIR}/${source})
  endforeach()
  set(tests ${sources})
  list(FILTER sources EXCLUDE REGEX "_test\\.cpp$")
  list(FILTER tests INCLUDE REGEX "_test\\.cpp$")
  add_library(ounce_${name} OBJECT ${sources} ${LAYER_ADDED})
  target_include_directories(ounce_${name} PUBLIC ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
  target_link_libraries(ounce_${name} PRIVATE ounce_flags ${LAYER_USES})
  if(name STREQUAL "base")
    target_precompile_headers(ounce_base PRIVATE ${OUNCE_PRECOMPILED})
  else()
    target_precompile_headers(ounce_${name} REUSE_FROM ounce_base)
  endif()
  if(NOT LAYER_ALONE)
    ounce_batches_by_folder(ounce_${name} ${sources})
  endif()
  if(LAYER_IDLE)
    ounce_idle(ounce_${name})
  endif()
  set_property(GLOBAL APPEND PROPERTY OUNCE_LAYERS ounce_${name})
  set_property(GLOBAL APPEND PROPERTY OUNCE_USES ${LAYER_USES})
  set_property(GLOBAL APPEND PROPERTY OUNCE_UNIT_TESTS ${tests})
endfunction()
