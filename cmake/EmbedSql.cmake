# Embeds the sql/ and migrations/ folders of a backend's room into its library.
# Usage, after penstock_room(store/NAME …): penstock_embed_sql(store/NAME)
function(penstock_embed_sql path)
  string(REPLACE "/" "_" name ${path})
  string(REPLACE "/" "::" namespace ${path})
  set(folder ${PROJECT_SOURCE_DIR}/src/${path})
  set(output ${PROJECT_BINARY_DIR}/generated/${name}_sql.cc)
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/generated)
  file(GLOB files CONFIGURE_DEPENDS ${folder}/sql/*.sql ${folder}/migrations/*.sql)
  add_custom_command(
    OUTPUT ${output}
    COMMAND /usr/bin/python3 ${PROJECT_SOURCE_DIR}/tools/embed_sql.py ${output} ${path}/sql.h
            penstock::${namespace} embedded_statements=${folder}/sql
            embedded_migrations=${folder}/migrations
    DEPENDS ${files} ${PROJECT_SOURCE_DIR}/tools/embed_sql.py
    VERBATIM)
  target_sources(penstock_${name} PRIVATE ${output})
endfunction()
