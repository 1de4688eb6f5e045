# Embeds the lua/ folder of a backend's room into its library.
# Usage, after penstock_room(store/NAME …): penstock_embed_lua(store/NAME)
function(penstock_embed_lua path)
  string(REPLACE "/" "_" name ${path})
  string(REPLACE "/" "::" namespace ${path})
  set(folder ${PROJECT_SOURCE_DIR}/src/${path}/lua)
  set(output ${PROJECT_BINARY_DIR}/generated/${name}_lua.cc)
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/generated)
  file(GLOB files CONFIGURE_DEPENDS ${folder}/*.lua)
  add_custom_command(
    OUTPUT ${output}
    COMMAND /usr/bin/python3 ${PROJECT_SOURCE_DIR}/tools/embed_lua.py ${output} ${path}/script.h
            penstock::${namespace} ${folder}
    DEPENDS ${files} ${PROJECT_SOURCE_DIR}/tools/embed_lua.py ${PROJECT_SOURCE_DIR}/tools/embed_sql.py
    VERBATIM)
  target_sources(penstock_${name} PRIVATE ${output})
endfunction()
