# The component app: libounce_app, its headers, and a CMake package that depends only on threads.
set(app_package ${CMAKE_INSTALL_LIBDIR}/cmake/ounce_app)
set(app_headers ${PROJECT_SOURCE_DIR}/include/ounce)
set_target_properties(ounce_app PROPERTIES EXPORT_NAME app)
set_target_properties(ounce_app_shared PROPERTIES EXPORT_NAME app_shared)
foreach(library ounce_app ounce_app_shared)
  target_include_directories(${library} INTERFACE $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
endforeach()
install(FILES ${app_headers}/app.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/ounce COMPONENT app)
install(TARGETS ounce_app_shared EXPORT ounce_app
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT app NAMELINK_COMPONENT app)
if(NOT OUNCE_RELOCATABLE)  # the C++ library works only with the compiler that built it
  install(TARGETS ounce_app EXPORT ounce_app ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT app)
  install(FILES ${app_headers}/app.hpp ${app_headers}/error.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/ounce COMPONENT app)
endif()
install(EXPORT ounce_app NAMESPACE ounce:: FILE ounce_appTargets.cmake DESTINATION ${app_package} COMPONENT app)
file(WRITE ${PROJECT_BINARY_DIR}/ounce_appConfig.cmake
"include(CMakeFindDependencyMacro)
find_dependency(Threads)
include(\"\${CMAKE_CURRENT_LIST_DIR}/ounce_appTargets.cmake\")
")
write_basic_package_version_file(${PROJECT_BINARY_DIR}/ounce_appConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/ounce_appConfig.cmake ${PROJECT_BINARY_DIR}/ounce_appConfigVersion.cmake
        DESTINATION ${app_package} COMPONENT app)
