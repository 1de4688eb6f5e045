# One library per room of src/, sources found by name: `x.cc` belongs to the library, `x_test.cc` to
# the room's unit tests, `x_conformance.cc` to its conformance tests.
set(PENSTOCK_ROOMS "" CACHE INTERNAL "rooms declared so far")

add_library(penstock_options INTERFACE)
target_include_directories(penstock_options INTERFACE ${CMAKE_SOURCE_DIR}/src
                                                      ${CMAKE_SOURCE_DIR}/include)
target_compile_options(
  penstock_options
  INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion
            -Wno-missing-field-initializers -Wnon-virtual-dtor -Woverloaded-virtual -Werror -fno-omit-frame-pointer)
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  # GCC 12 warns of impossible overlaps inside std::string (its bug 105651).
  target_compile_options(penstock_options INTERFACE -Wno-restrict)
endif()
if(PENSTOCK_SANITIZE)
  # These four ask at every use of a pointer, which takes GCC as long as all the rest; what they
  # would find, the address sanitizer finds too.
  target_compile_options(
    penstock_options
    INTERFACE -fsanitize=${PENSTOCK_SANITIZE} -fno-sanitize=null,alignment,object-size,vptr
              -fno-sanitize-recover=all)
  target_link_options(penstock_options INTERFACE -fsanitize=${PENSTOCK_SANITIZE})
endif()
# Boost and friends are not ours to warn about; Debian installs them in system folders, which the
# compiler already treats so.

# Under a sanitizer, code compiles up to twice as fast without optimization.
function(penstock_compile_quickly target)
  if(PENSTOCK_SANITIZE)
    target_compile_options(${target} PRIVATE -O0)
  endif()
endfunction()

function(penstock_room path)
  cmake_parse_arguments(ROOM "" "" "LINK;EXCEPT" ${ARGN})
  string(REPLACE "/" "_" name ${path})
  file(GLOB_RECURSE files CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/src/${path}/*.cc)
  foreach(except ${ROOM_EXCEPT})
    list(FILTER files EXCLUDE REGEX "/src/${path}/${except}")
  endforeach()
  set(tests ${files})
  set(conformance ${files})
  list(FILTER files EXCLUDE REGEX "_(test|conformance)\\.cc$")
  list(FILTER tests INCLUDE REGEX "_test\\.cc$")
  list(FILTER conformance INCLUDE REGEX "_conformance\\.cc$")
  if(files)
    add_library(penstock_${name} STATIC ${files})
    target_link_libraries(penstock_${name} PUBLIC penstock_options ${ROOM_LINK})
    # What tests call in long loops stays optimized.
    if(NOT path MATCHES "^(base|core|runtime|wire|store/memory)$")
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

# A GoogleTest program as one ctest entry, its cases written to reports/ for tools/test_summary.
function(penstock_gtest name label room)
  add_executable(${name} ${ARGN})
  target_link_libraries(${name} PRIVATE penstock_${room} GTest::gmock GTest::gtest_main)
  penstock_compile_quickly(${name})
  add_test(NAME ${name}
           COMMAND ${name} --gtest_brief=1
                   --gtest_output=xml:${CMAKE_BINARY_DIR}/reports/${name}.xml)
  set_tests_properties(${name} PROPERTIES LABELS ${label} TIMEOUT 1500 WORKING_DIRECTORY
                                          ${CMAKE_SOURCE_DIR})
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
  add_test(NAME layer_check COMMAND /usr/bin/python3 ${CMAKE_SOURCE_DIR}/tools/layer_check.py)
  set_tests_properties(layer_check PROPERTIES LABELS unit WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
  # Load and timing of most would disturb each other; these mostly wait, for servers and for people's patience.
  set(beside_others
      test_cli
      test_cli_calls
      test_cli_commands
      test_cli_completion
      test_config
      test_console
      test_container
      test_crash
      test_demo
      test_dispatch
      test_docs
      test_docs_names
      test_doctor
      test_doctor_servers
      test_examples
      test_gateway
      test_gateway_cache
      test_gateway_input
      test_gateway_properties
      test_helm
      test_kafka_intake
      test_kafka_sink
      test_library
      test_mariadb
      test_nginx
      test_openapi
      test_openapi_fuzz
      test_package
      test_payment_worker
      test_payments
      test_payments_guide
      test_payments_import
      test_payments_temporal
      test_prometheus
      test_slot_life
      test_smpp
      test_temporal
      test_throttle_filter
      test_tls
      test_top
      test_usage_export
      test_version)
  foreach(suite e2e servers chaos)
    file(GLOB scripts CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/tests/${suite}/test_*.py)
    foreach(script ${scripts})
      get_filename_component(stem ${script} NAME_WE)
      set(name ${suite}_${stem})
      add_test(NAME ${name}
               COMMAND /usr/bin/python3 -m pytest -q -rs -p no:cacheprovider
                       --junitxml=${CMAKE_BINARY_DIR}/reports/${name}.xml ${script})
      set_tests_properties(
        ${name}
        PROPERTIES LABELS ${suite} TIMEOUT 1500 WORKING_DIRECTORY ${CMAKE_SOURCE_DIR} ENVIRONMENT
                   "PENSTOCK_BUILD=${CMAKE_BINARY_DIR};PYTHONDONTWRITEBYTECODE=1")
      if(NOT suite STREQUAL servers AND NOT stem IN_LIST beside_others)
        set_tests_properties(${name} PROPERTIES RUN_SERIAL ON)
      endif()
    endforeach()
  endforeach()
endfunction()
