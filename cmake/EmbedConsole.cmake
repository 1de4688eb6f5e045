# Builds the console (ui/) and embeds its files. Builds under a sanitizer go without: they test the
# daemon, and need neither npm nor the network for it.
# Usage, after penstock_room(ROOM …): penstock_embed_console(ROOM)
function(penstock_embed_console room)
  set(output ${PROJECT_BINARY_DIR}/generated/console_files.cc)
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/generated)
  set(page ${PROJECT_SOURCE_DIR}/build/ui)
  if(PENSTOCK_SANITIZE OR PENSTOCK_FUZZERS)
    set(page --none)
  endif()
  # Asked at every build, and quick when nothing changed: so a build that had to do without npm makes
  # up for it once npm is there.
  add_custom_target(
    console_files
    COMMAND /usr/bin/python3 ${PROJECT_SOURCE_DIR}/tools/embed_console.py ${output} ${page}
    BYPRODUCTS ${output}
    COMMENT "Console"
    VERBATIM)
  target_sources(penstock_${room} PRIVATE ${output})
  add_dependencies(penstock_${room} console_files)
endfunction()
