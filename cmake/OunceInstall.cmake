# Rules for `cmake --install`: the programs, the libraries, the headers of include/ounce, manual pages, completions, and a CMake
# package, with which a project calls find_package(ounce) and links ounce::ounce (C++, static) or ounce::shared (C).
#
# With OUNCE_RELOCATABLE the static library is left out, because it works only with the compiler that built it.
#
# There are four components: programs (with libounce.so; the content of the Python package), development, manual, and app, which
# is the library for phones and servers with its own CMake package (find_package(ounce_app); ounce::app, ounce::app_shared).
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

# The libraries that users of libounce.a must link, too. ounceConfig.cmake.in finds them; the other dependencies are header-only
# and are not exported.
# CMAKE_DL_LIBS is -ldl, for opening ONNX Runtime at run time.
set(linked_by_consumers fmt::fmt Threads::Threads PkgConfig::hwy PkgConfig::re2 PkgConfig::xxhash
    JPEG::JPEG PNG::PNG ZLIB::ZLIB ${CMAKE_DL_LIBS})
get_target_property(linked ounce LINK_LIBRARIES)
list(FILTER linked EXCLUDE REGEX "BUILD_INTERFACE")
list(REMOVE_ITEM linked ${linked_by_consumers} linked-NOTFOUND)
if(linked)
  message(FATAL_ERROR "The target ounce links ${linked}, which an installed ounce cannot find: "
    "wrap it in $<BUILD_INTERFACE:…>, or add it to cmake/OunceInstall.cmake and ounceConfig.cmake.in")
endif()

target_include_directories(ounce INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_compile_features(ounce INTERFACE cxx_std_20)

set(OUNCE_HAS_STATIC ON)
if(OUNCE_RELOCATABLE)
  set(OUNCE_HAS_STATIC OFF)
else()
  install(TARGETS ounce EXPORT ounce ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development)
endif()
set_target_properties(ounce_shared PROPERTIES EXPORT_NAME shared)
target_include_directories(ounce_shared PUBLIC $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
install(TARGETS ounce_shared EXPORT ounce
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT programs NAMELINK_COMPONENT development)
install(TARGETS ounce_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT programs)
install(TARGETS ounce_runner RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT programs)
if(OUNCE_RUNNER_ARM64)
  install(PROGRAMS ${OUNCE_RUNNER_ARM64} DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT programs)
endif()
set(headers "*.h")
if(OUNCE_RELOCATABLE)
  set(headers "ounce.h")  # C
endif()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/ounce DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development
        FILES_MATCHING PATTERN ${headers} PATTERN "app*" EXCLUDE)
include(${CMAKE_CURRENT_LIST_DIR}/OunceInstallApp.cmake)
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT manual)

# The program writes its manual and its completions. When cross-compiling, OUNCE_MANUAL_PROGRAM must name a program of the same
# version that runs on this machine.
set(OUNCE_MANUAL_PROGRAM $<TARGET_FILE:ounce_cli> CACHE STRING "The program that writes manual pages and completions")
install(CODE "set(program \"${OUNCE_MANUAL_PROGRAM}\")
set(share \"\${CMAKE_INSTALL_PREFIX}/${CMAKE_INSTALL_DATADIR}\")" COMPONENT manual)
install(SCRIPT ${CMAKE_CURRENT_LIST_DIR}/install_manual.cmake COMPONENT manual)

set(package ${CMAKE_INSTALL_LIBDIR}/cmake/ounce)
install(EXPORT ounce NAMESPACE ounce:: FILE ounceTargets.cmake DESTINATION ${package} COMPONENT development)
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/ounceConfig.cmake.in
  ${PROJECT_BINARY_DIR}/ounceConfig.cmake INSTALL_DESTINATION ${package})
# Before 1.0 minor versions may be incompatible.
write_basic_package_version_file(${PROJECT_BINARY_DIR}/ounceConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/ounceConfig.cmake ${PROJECT_BINARY_DIR}/ounceConfigVersion.cmake
        DESTINATION ${package} COMPONENT development)
