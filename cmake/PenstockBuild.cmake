# How everything of this tree is compiled and linked: the compiler cache, the linker, warnings, sanitizers, groups.

# Only for this tree as a whole: a project that takes it in has its own cache and its own compiler.
if(PROJECT_IS_TOP_LEVEL)
  set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
  find_program(CCACHE ccache)
  if(CCACHE)
    # Paths are hashed relative to the clone, so that a second clone finds what the first compiled.
    set(CMAKE_CXX_COMPILER_LAUNCHER env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${CCACHE})
  endif()
  # Links 20 times as fast as Debian's default linker.
  find_program(MOLD mold)
  if(MOLD)
    add_link_options(-fuse-ld=mold)
  endif()
endif()

add_library(penstock_options INTERFACE)
target_include_directories(penstock_options INTERFACE ${PROJECT_SOURCE_DIR}/src
                                                      ${PROJECT_SOURCE_DIR}/include)
target_compile_options(
  penstock_options
  INTERFACE -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion
            -Wno-missing-field-initializers -Wnon-virtual-dtor -Woverloaded-virtual -fno-omit-frame-pointer)
if(PROJECT_IS_TOP_LEVEL)
  target_compile_options(penstock_options INTERFACE -Werror)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL GNU)
  # GCC 12 warns of impossible overlaps inside std::string (its bug 105651), and takes the value of a std::expected that
  # holds an error for uninitialized; clang, by which the asan preset compiles, looks for both without these mistakes. It
  # takes the files of a group for headers, and warns of their types in anonymous namespaces.
  target_compile_options(penstock_options INTERFACE -Wno-restrict -Wno-maybe-uninitialized -Wno-subobject-linkage)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL Clang)
  # What libstdc++ 12 itself still uses for stable_sort.
  target_compile_options(penstock_options INTERFACE -Wno-deprecated-declarations)
endif()
if(PENSTOCK_SANITIZE)
  # These four ask at every use of a pointer, which takes the compiler as long as all the rest; what they
  # would find, the address sanitizer finds too.
  target_compile_options(
    penstock_options
    INTERFACE -fsanitize=${PENSTOCK_SANITIZE} -fno-sanitize=null,alignment,object-size,vptr
              -fno-sanitize-recover=all)
  target_link_options(penstock_options INTERFACE -fsanitize=${PENSTOCK_SANITIZE})
endif()

# Compiles the files of one target in groups: each group is one source that includes its files, so that the headers they
# share are read once for all of them. Reading headers was most of a build. The text of a group names its files by their
# place in src/: it is the same in every clone, and so the compiler cache knows it.
# Usage: penstock_group(OUT NAME FILE...)    OUT: the sources to give to the target
option(PENSTOCK_GROUP_SOURCES "Compile sources in groups (OFF: one by one, as clang-tidy needs them)" ON)
set(PENSTOCK_GROUP_BYTES 70000) # about a dozen files; larger groups leave a core idle at the end of a build

function(penstock_group out name)
  if(NOT PENSTOCK_GROUP_SOURCES)
    set(${out} ${ARGN} PARENT_SCOPE)
    return()
  endif()
  set(sources "")
  set(text "")
  set(bytes 0)
  set(number 0)
  foreach(file ${ARGN} "")
    set(size 0)
    if(file)
      file(SIZE ${file} size)
    endif()
    math(EXPR total "${bytes} + ${size}")
    if(text AND (NOT file OR total GREATER PENSTOCK_GROUP_BYTES))
      set(group ${PROJECT_BINARY_DIR}/groups/${name}_${number}.cc)
      file(CONFIGURE OUTPUT ${group} CONTENT "${text}" @ONLY)
      list(APPEND sources ${group})
      math(EXPR number "${number} + 1")
      set(text "")
      set(total ${size})
    endif()
    if(file)
      file(RELATIVE_PATH relative ${PROJECT_SOURCE_DIR}/src ${file})
      string(APPEND text "#include \"${relative}\"\n")
    endif()
    set(bytes ${total})
  endforeach()
  set(${out} ${sources} PARENT_SCOPE)
endfunction()

# The debug symbols of a release stand beside its program, as NAME.debug: debuggers find them there, users need not have them.
function(penstock_split_symbols target)
  if(NOT CMAKE_BUILD_TYPE STREQUAL Release OR NOT CMAKE_OBJCOPY OR NOT PROJECT_IS_TOP_LEVEL)
    return()
  endif()
  add_custom_command(
    TARGET ${target}
    POST_BUILD
    COMMAND ${CMAKE_OBJCOPY} --only-keep-debug $<TARGET_FILE:${target}> $<TARGET_FILE:${target}>.debug
    COMMAND ${CMAKE_OBJCOPY} --strip-unneeded --add-gnu-debuglink=$<TARGET_FILE:${target}>.debug $<TARGET_FILE:${target}>
    VERBATIM)
endfunction()
