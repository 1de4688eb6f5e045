# One library per room of src/, sources found by name: `x.cc` belongs to the library, `x_test.cc` to
# the room's unit tests, `x_conformance.cc` to its conformance tests. A room is a folder with all that is below it, or
# FOLDERS: patterns of folders without what is below them.
set(PENSTOCK_ROOMS "" CACHE INTERNAL "rooms declared so far")

# Code compiles up to twice as fast without optimization.
function(penstock_compile_quickly target)
  target_compile_options(${target} PRIVATE -O0)
endfunction()

function(penstock_room path)
  cmake_parse_arguments(ROOM "" "" "LINK;EXCEPT;FOLDERS" ${ARGN})
  string(REPLACE "/" "_" name ${path})
  if(ROOM_FOLDERS)
    list(TRANSFORM ROOM_FOLDERS REPLACE "(.+)" "${PROJECT_SOURCE_DIR}/src/\\1/*.cc")
    file(GLOB files CONFIGURE_DEPENDS ${ROOM_FOLDERS})
  else()
    file(GLOB_RECURSE files CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${path}/*.cc)
  endif()
  foreach(except ${ROOM_EXCEPT})
    list(FILTER files EXCLUDE REGEX "/src/${path}/${except}")
  endforeach()
  set(tests ${files})
  set(conformance ${files})
  list(FILTER files EXCLUDE REGEX "_(test|conformance)\\.cc$")
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  list(FILTER conformance INCLUDE REGEX "_conformance\\.cc$")
  if(files)
    penstock_group(groups ${name} ${files})
    add_library(penstock_${name} STATIC ${groups})
    target_link_libraries(penstock_${name} PUBLIC penstock_options ${ROOM_LINK})
    # Under a sanitizer, only what tests call in long loops is optimized.
    if(PENSTOCK_SANITIZE AND NOT path MATCHES "^(base|core|runtime|wire|store/limits/memory)$")
      penstock_compile_quickly(penstock_${name})
    endif()
  else()
    add_library(penstock_${name} INTERFACE)
    target_link_libraries(penstock_${name} INTERFACE penstock_options ${ROOM_LINK})
  endif()
  set(PENSTOCK_${name}_TESTS "${tests}" CACHE INTERNAL "")
  set(PENSTOCK_${name}_CONFORMANCE "${conformance}" CACHE INTERNAL "")
  set(PENSTOCK_ROOMS "${PENSTOCK_ROOMS};${name}" CACHE INTERNAL "")
endfunction()

# Programs that mostly wait, for timers and servers, run in parts beside each other.
set(PENSTOCK_PARTS_front_test 2)
set(PENSTOCK_PARTS_engine_kafka_test 4)
set(PENSTOCK_PARTS_service_test 2)
set(PENSTOCK_PARTS_store_embedded_test 3)
set(PENSTOCK_PARTS_store_embedded_conformance 2)
set(PENSTOCK_PARTS_store_postgres_conformance 4)

# Test programs with long loops of their own: with a sanitizer these cost more than compiling them with optimization.
set(PENSTOCK_COMPUTING_TESTS core_test)

# A GoogleTest program as one ctest entry, or as one for each part; its cases go to reports/ for tools/run_tests.
function(penstock_gtest name label room)
  penstock_group(groups ${name} ${ARGN})
  add_executable(${name} ${groups})
  target_link_libraries(${name} PRIVATE penstock_${room} GTest::gmock GTest::gtest_main)
  if(NOT (PENSTOCK_SANITIZE AND name IN_LIST PENSTOCK_COMPUTING_TESTS))
    penstock_compile_quickly(${name})
  endif()
  set(parts 1)
  if(PENSTOCK_PARTS_${name})
    set(parts ${PENSTOCK_PARTS_${name}})
  endif()
  foreach(part RANGE 1 ${parts})
    set(entry ${name})
    if(parts GREATER 1)
      set(entry ${name}_${part})
    endif()
    math(EXPR index "${part} - 1")
    add_test(NAME ${entry} COMMAND ${name} --gtest_brief=1
                                   --gtest_output=xml:${PROJECT_BINARY_DIR}/reports/${entry}.xml)
    set_tests_properties(
      ${entry}
      PROPERTIES LABELS ${label} TIMEOUT 900 WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} ENVIRONMENT
                 "GTEST_TOTAL_SHARDS=${parts};GTEST_SHARD_INDEX=${index}")
  endforeach()
endfunction()

function(penstock_tests)
  foreach(room ${PENSTOCK_ROOMS})
    if(PENSTOCK_${room}_TESTS)
      penstock_gtest(${room}_test unit ${room} ${PENSTOCK_${room}_TESTS})
    endif()
    if(PENSTOCK_${room}_CONFORMANCE)
      penstock_gtest(${room}_conformance conformance ${room} ${PENSTOCK_${room}_CONFORMANCE})
    endif()
  endforeach()
endfunction()

# Script checks and the pytest suites: Debian's python3, so that its python3-* packages are found.
function(penstock_script_tests)
  add_test(NAME layer_check COMMAND /usr/bin/python3 ${PROJECT_SOURCE_DIR}/tools/layer_check.py)
  set_tests_properties(layer_check PROPERTIES LABELS unit WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  add_test(NAME lint COMMAND ${PROJECT_SOURCE_DIR}/tools/lint --quick)
  set_tests_properties(lint PROPERTIES LABELS lint TIMEOUT 600 WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  # These judge what the machine can do at its full speed.
  set(alone test_load test_throttle_memory)
  foreach(suite e2e attack servers)
    file(GLOB scripts CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/${suite}/test_*.py)
    foreach(script ${scripts})
      get_filename_component(stem ${script} NAME_WE)
      set(name ${suite}_${stem})
      add_test(NAME ${name}
               COMMAND /usr/bin/python3 -m pytest -q -rs -p no:cacheprovider
                       --junitxml=${PROJECT_BINARY_DIR}/reports/${name}.xml ${script})
      set_tests_properties(
        ${name}
        PROPERTIES LABELS ${suite} TIMEOUT 1500 WORKING_DIRECTORY ${PROJECT_SOURCE_DIR} ENVIRONMENT
                   "PENSTOCK_BUILD=${PROJECT_BINARY_DIR};PYTHONDONTWRITEBYTECODE=1")
      if(stem IN_LIST alone)
        set_tests_properties(${name} PROPERTIES RUN_SERIAL ON)
      endif()
    endforeach()
  endforeach()
endfunction()
