# The daemon's program, with extensions: files from outside this tree, each of which brings a kind of sink
# (src/sink/extension.h). For x/file_sink.cc the list calls penstock::extensions::file_sink(), which that file
# defines by PENSTOCK_SINK(file_sink).
function(penstock_daemon target)
  cmake_parse_arguments(DAEMON "" "" "EXTENSIONS" ${ARGN})
  set(declarations "")
  set(calls "")
  set(count 0)
  set(sources "")
  foreach(extension ${DAEMON_EXTENSIONS})
    get_filename_component(source ${extension} ABSOLUTE BASE_DIR ${PROJECT_SOURCE_DIR})
    get_filename_component(stem ${source} NAME_WE)
    if(NOT EXISTS ${source})
      message(FATAL_ERROR "PENSTOCK_EXTENSIONS: there is no file ${source}")
    endif()
    if(NOT stem MATCHES "^[A-Za-z_][A-Za-z0-9_]*$")
      message(FATAL_ERROR "PENSTOCK_EXTENSIONS: ${stem} is no name that C++ knows; rename ${source}")
    endif()
    list(APPEND sources ${source})
    string(APPEND declarations "sink::SinkKind ${stem}(Log&);\n")
    string(APPEND calls "      penstock::extensions::${stem},\n")
    math(EXPR count "${count} + 1")
  endforeach()
  set(list ${PROJECT_BINARY_DIR}/generated/${target}_extensions.cc)
  file(CONFIGURE OUTPUT ${list} @ONLY CONTENT [=[
// Written by cmake/PenstockDaemon.cmake.
#include "daemon/commands/commands.h"

#include <array>

namespace penstock::extensions {
@declarations@}  // namespace penstock::extensions

namespace penstock::daemon {

std::span<const sink::MakeExtension> extensions() {
  static constexpr std::array<sink::MakeExtension, @count@> all = {
@calls@  };
  return all;
}

}  // namespace penstock::daemon
]=])
  add_executable(${target} src/main.cc ${list} ${sources})
  target_link_libraries(${target} PRIVATE penstock_daemon penstock_tool)
  penstock_split_symbols(${target})
  # The suites that run under sanitizers start no daemon.
  if(PENSTOCK_SANITIZE)
    set_target_properties(${target} PROPERTIES EXCLUDE_FROM_ALL ON)
  endif()
endfunction()
