# Common settings of all targets, and functions that make layers from the folders of src/ and reduce the build time.
#
# Most of the compile time would go to headers and to templates that each file instantiates. So all layers share one precompiled
# header (OUNCE_PRECOMPILED), and the files of a folder are compiled in batches (unity builds). Files of a batch share their
# anonymous namespaces, so names there must be unique in a folder. OUNCE_JOIN=OFF compiles every file alone, as clang-tidy does.
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
  # No fused multiply-add, which only some CPUs have: models must have the same bytes on every machine.
  -ffp-contract=off)
# All layers get the definitions of all layers, because a precompiled header requires identical definitions.
target_link_libraries(ounce_flags INTERFACE fmt::fmt)
target_compile_options(ounce_flags INTERFACE -pthread)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(ounce_flags INTERFACE -fpch-preprocess)  # lets ccache detect changes of the precompiled header
endif()
if(OUNCE_SANITIZE)
  target_compile_options(ounce_flags INTERFACE -fsanitize=${OUNCE_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(ounce_flags INTERFACE -fsanitize=${OUNCE_SANITIZE})
endif()

# ounce_false_alarms(target): disables false warnings of GCC 12 about std::string, which it reports because it does not treat
# precompiled system headers as such. The preset debug compiles every file alone, with these warnings.
function(ounce_false_alarms target)
  if(OUNCE_JOIN AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    target_compile_options(${target} PRIVATE -Wno-array-bounds -Wno-stringop-overflow -Wno-stringop-overread)
  endif()
endfunction()

# ounce_batches(target): compiles OUNCE_BATCH files at once. Larger batches would save little, and a change recompiles a batch.
set(OUNCE_BATCH 8)
function(ounce_batches target)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ${OUNCE_JOIN} UNITY_BUILD_BATCH_SIZE ${OUNCE_BATCH})
endfunction()

# ounce_batches_by_folder(target source …): the same, with batches that contain files of one folder only.
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

# ounce_idle(target): compiles code that parses options and prints results with -O1. Most of its compile time went into inlining
# small containers, and its speed does not matter.
function(ounce_idle target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
endfunction()

# ounce_layer(name [USES library …] [ADDED source …] [EXCEPT source …] [ALONE] [IDLE])
# Adds all sources of the folder and its subfolders to libounce, and all tests (*_test.cpp, next to their sources) to the test
# program. ADDED: sources that the build generates. EXCEPT: sources that belong to another target. ALONE: files are compiled
# without batches, as needed for files that include themselves (Highway). IDLE: ounce_idle().
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
