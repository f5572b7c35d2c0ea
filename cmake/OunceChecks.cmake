# Tests of the project's rules (layers, fields in messages, wording, spelling, links of the documentation), and of the installed ounce in separate
# projects.
find_package(Python3 REQUIRED COMPONENTS Interpreter)
add_test(NAME layers
  COMMAND Python3::Interpreter ${PROJECT_SOURCE_DIR}/tools/check_layers.py ${PROJECT_SOURCE_DIR})
add_test(NAME layers_check_itself
  COMMAND Python3::Interpreter ${PROJECT_SOURCE_DIR}/tools/check_layers_test.py)
add_test(NAME words
  COMMAND Python3::Interpreter ${PROJECT_SOURCE_DIR}/tools/check_words.py ${PROJECT_SOURCE_DIR})
add_test(NAME words_check_itself
  COMMAND Python3::Interpreter ${PROJECT_SOURCE_DIR}/tools/check_words_test.py)
add_test(NAME messages
  COMMAND Python3::Interpreter ${PROJECT_SOURCE_DIR}/tools/check_messages.py ${PROJECT_SOURCE_DIR})
add_test(NAME messages_check_itself
  COMMAND Python3::Interpreter ${PROJECT_SOURCE_DIR}/tools/check_messages_test.py)
add_test(NAME links
  COMMAND Python3::Interpreter ${PROJECT_SOURCE_DIR}/tools/check_links.py ${PROJECT_SOURCE_DIR})
add_test(NAME links_check_itself
  COMMAND Python3::Interpreter ${PROJECT_SOURCE_DIR}/tools/check_links_test.py)
add_test(NAME language
  COMMAND Python3::Interpreter ${PROJECT_SOURCE_DIR}/tools/check_language.py)
add_test(NAME spelling
  COMMAND Python3::Interpreter ${PROJECT_SOURCE_DIR}/tools/check_spelling.py ${PROJECT_SOURCE_DIR})
add_test(NAME spelling_check_itself
  COMMAND Python3::Interpreter ${PROJECT_SOURCE_DIR}/tools/check_spelling_test.py)
add_test(NAME language_check_itself
  COMMAND Python3::Interpreter ${PROJECT_SOURCE_DIR}/tools/check_language_test.py)
add_test(NAME package_files
  COMMAND Python3::Interpreter ${PROJECT_SOURCE_DIR}/tests/packaging/files_test.py ${PROJECT_SOURCE_DIR})

set(consumer ${PROJECT_BINARY_DIR}/consumer)
add_test(NAME install
  COMMAND ${CMAKE_COMMAND} --install ${PROJECT_BINARY_DIR} --prefix ${consumer}/prefix)
set_tests_properties(install PROPERTIES FIXTURES_SETUP installed)
if(OUNCE_SANITIZE)
  set(sanitize -DCMAKE_CXX_FLAGS=-fsanitize=${OUNCE_SANITIZE})
endif()
add_test(NAME consumer
  COMMAND ${CMAKE_CTEST_COMMAND}
    --build-and-test ${PROJECT_SOURCE_DIR}/tests/consumer ${consumer}/build
    --build-generator ${CMAKE_GENERATOR}
    --build-options -DCMAKE_PREFIX_PATH=${consumer}/prefix ${sanitize}
    --test-command consumer ${PROJECT_SOURCE_DIR}/examples/commands/commands.onnx)
set_tests_properties(consumer PROPERTIES FIXTURES_REQUIRED installed)
if(NOT OUNCE_SANITIZE)  # a C program without sanitizers cannot load a library with them
  add_test(NAME consumer_c
    COMMAND ${CMAKE_CTEST_COMMAND}
      --build-and-test ${PROJECT_SOURCE_DIR}/tests/consumer_c ${consumer}/build_c
      --build-generator ${CMAKE_GENERATOR}
      --build-options -DCMAKE_PREFIX_PATH=${consumer}/prefix
      --test-command consumer_c ${PROJECT_SOURCE_DIR}/examples/commands/commands.onnx)
  set_tests_properties(consumer_c PROPERTIES FIXTURES_REQUIRED installed)
endif()
if(NOT OUNCE_SANITIZE)
  foreach(program consumer_app consumer_app_c)
    add_test(NAME ${program}
      COMMAND ${CMAKE_CTEST_COMMAND}
        --build-and-test ${PROJECT_SOURCE_DIR}/tests/consumer_app ${consumer}/build_${program}
        --build-generator ${CMAKE_GENERATOR}
        --build-options -DCMAKE_PREFIX_PATH=${consumer}/prefix
        --test-command ${program} ${PROJECT_SOURCE_DIR}/examples/commands/commands.onnx)
    set_tests_properties(${program} PROPERTIES FIXTURES_REQUIRED installed)
  endforeach()
endif()
