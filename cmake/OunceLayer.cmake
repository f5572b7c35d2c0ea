# What every target of ours has in common, and how a folder of src/ becomes a layer.

add_library(ounce_flags INTERFACE)
target_compile_features(ounce_flags INTERFACE cxx_std_20)
target_compile_options(ounce_flags INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wold-style-cast
  -Wnon-virtual-dtor -Woverloaded-virtual -Wcast-qual -Wformat=2 -Werror
  # The same bytes on every machine: no fused multiply-add that only some CPUs have.
  -ffp-contract=off)
if(OUNCE_SANITIZE)
  target_compile_options(ounce_flags INTERFACE -fsanitize=${OUNCE_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(ounce_flags INTERFACE -fsanitize=${OUNCE_SANITIZE})
endif()

# ounce_layer(name SOURCES a.cpp … [USES library …] [TESTS a_test.cpp …])
# Sources become part of libounce; tests (beside their sources) join the one test program.
function(ounce_layer name)
  cmake_parse_arguments(LAYER "" "" "SOURCES;USES;TESTS" ${ARGN})
  add_library(ounce_${name} OBJECT ${LAYER_SOURCES})
  target_include_directories(ounce_${name} PUBLIC ${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/include)
  target_link_libraries(ounce_${name} PRIVATE ounce_flags ${LAYER_USES})
  set_property(GLOBAL APPEND PROPERTY OUNCE_LAYERS ounce_${name})
  set_property(GLOBAL APPEND PROPERTY OUNCE_USES ${LAYER_USES})
  foreach(test IN LISTS LAYER_TESTS)
    set_property(GLOBAL APPEND PROPERTY OUNCE_UNIT_TESTS ${CMAKE_CURRENT_SOURCE_DIR}/${test})
  endforeach()
endfunction()
