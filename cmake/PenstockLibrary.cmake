# The installed library: libpenstock.so with its headers, a CMake package and a pkg-config file, and
# nothing else of the tree. `cmake --install DIR --component library` installs it.
#
# Its sources are compiled a second time, since code for a shared library with everything hidden but
# the public classes is neither the daemon's code nor slower than it.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

set(library_sources "")
foreach(folder library core/limits core/policy store/limits/memory)
  file(GLOB files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${folder}/*.cc)
  list(APPEND library_sources ${files})
endforeach()
list(FILTER library_sources EXCLUDE REGEX "_(test|conformance)\\.cc$")
foreach(file base/check base/result runtime/clocks runtime/tick_clock wire/filter_keys
             wire/ip_address wire/percent wire/throttle_headers)
  list(APPEND library_sources ${PROJECT_SOURCE_DIR}/src/${file}.cc)
endforeach()

# A status is written field by field; copied in pairs of fields it would wait for those writes.
set(engine ${PROJECT_SOURCE_DIR}/src/library/engine.cc)
list(REMOVE_ITEM library_sources ${engine})
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  set_source_files_properties(${engine} PROPERTIES COMPILE_OPTIONS -fno-tree-slp-vectorize)
endif()
set(exports ${PROJECT_SOURCE_DIR}/src/library/exports.map)
penstock_group(groups shared ${library_sources})
add_library(penstock_shared SHARED ${engine} ${groups})
add_library(Penstock::penstock ALIAS penstock_shared)
target_link_libraries(penstock_shared PRIVATE $<BUILD_INTERFACE:penstock_options>)
# A thread's own data is then one addition away and no call. It is a few hundred bytes, which also
# dlopen finds room for.
target_compile_options(penstock_shared PRIVATE -ftls-model=initial-exec)
target_link_options(penstock_shared PRIVATE -Wl,--version-script=${exports} -Wl,--as-needed)
if(NOT PENSTOCK_SANITIZE)
  target_link_options(penstock_shared PRIVATE -Wl,--no-undefined)
endif()
target_compile_features(penstock_shared INTERFACE cxx_std_20)
target_include_directories(penstock_shared INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                                                     $<INSTALL_INTERFACE:include>)
set_target_properties(
  penstock_shared
  PROPERTIES OUTPUT_NAME penstock
             EXPORT_NAME penstock
             VERSION ${PENSTOCK_VERSION}
             SOVERSION ${PROJECT_VERSION_MAJOR}
             POSITION_INDEPENDENT_CODE ON
             CXX_VISIBILITY_PRESET hidden
             VISIBILITY_INLINES_HIDDEN ON
             LINK_DEPENDS ${exports})
if(PENSTOCK_SANITIZE)
  set_target_properties(penstock_shared PROPERTIES EXCLUDE_FROM_ALL ON)
endif()

set(package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Penstock)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/PenstockConfig.cmake.in
                              ${PROJECT_BINARY_DIR}/PenstockConfig.cmake
                              INSTALL_DESTINATION ${package_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/PenstockConfigVersion.cmake
                                 COMPATIBILITY SameMinorVersion)
# The way back is longer in Debian's folders (lib/x86_64-linux-gnu) than in others (lib).
file(RELATIVE_PATH prefix_from_pkgconfig /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" prefix_from_pkgconfig ${prefix_from_pkgconfig})
configure_file(${PROJECT_SOURCE_DIR}/cmake/penstock.pc.in ${PROJECT_BINARY_DIR}/penstock.pc @ONLY)

install(TARGETS penstock_shared EXPORT PenstockTargets
        LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library NAMELINK_COMPONENT library)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/penstock DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        COMPONENT library FILES_MATCHING PATTERN "*.h")
install(EXPORT PenstockTargets NAMESPACE Penstock:: DESTINATION ${package_dir} COMPONENT library)
install(FILES ${PROJECT_BINARY_DIR}/PenstockConfig.cmake
              ${PROJECT_BINARY_DIR}/PenstockConfigVersion.cmake
        DESTINATION ${package_dir} COMPONENT library)
install(FILES ${PROJECT_BINARY_DIR}/penstock.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
        COMPONENT library)
