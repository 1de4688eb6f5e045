# Tells the program which commit it was built from (src/daemon/commands/commands.h).
# Usage, after penstock_room(ROOM …): penstock_build_commit(ROOM)
#
# Every build asks git anew, which takes some milliseconds, and writes one small source only when the answer is another
# one. So a commit compiles that file and links what holds it; nothing else sees it, and ccache knows the rest.
# Run as a script it is the question itself: cmake -DSOURCE=… -DOUTPUT=… -P BuildCommit.cmake
if(NOT CMAKE_SCRIPT_MODE_FILE)
  function(penstock_build_commit room)
    set(output ${PROJECT_BINARY_DIR}/generated/build_commit.cc)
    add_custom_target(
      penstock_build_commit
      COMMAND ${CMAKE_COMMAND} -DSOURCE=${PROJECT_SOURCE_DIR} -DOUTPUT=${output} -P
              ${CMAKE_CURRENT_FUNCTION_LIST_FILE}
      BYPRODUCTS ${output}
      COMMENT "Commit"
      VERBATIM)
    target_sources(penstock_${room} PRIVATE ${output})
    add_dependencies(penstock_${room} penstock_build_commit)
  endfunction()
  return()
endif()

set(commit "")
find_program(GIT git)
if(GIT)
  execute_process(COMMAND ${GIT} -C ${SOURCE} rev-parse --show-toplevel HEAD OUTPUT_VARIABLE found
                  OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET RESULT_VARIABLE failed)
  # Sources that only lie in somebody else's repository have no commit.
  file(REAL_PATH ${SOURCE} source)
  if(NOT failed AND found MATCHES "^(.*)\n([0-9a-f]+)$" AND CMAKE_MATCH_1 STREQUAL source)
    # Always so many digits: two clones of one commit give one binary.
    string(SUBSTRING ${CMAKE_MATCH_2} 0 7 commit)
    # Files that git does not know count, since sources are found by name. No lock: people use git meanwhile.
    execute_process(COMMAND ${GIT} --no-optional-locks -C ${SOURCE} status --porcelain
                    OUTPUT_VARIABLE changes)
    if(changes)
      string(APPEND commit -dirty)
    endif()
  endif()
endif()
file(CONFIGURE OUTPUT ${OUTPUT} @ONLY CONTENT [=[
// Written by cmake/BuildCommit.cmake.
#include "daemon/commands/commands.h"

namespace penstock::daemon {

std::string_view build_commit() noexcept { return "@commit@"; }

}  // namespace penstock::daemon
]=])
