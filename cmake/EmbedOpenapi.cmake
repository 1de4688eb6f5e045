# Embeds the description of the API (the route table and docs/openapi/) and the page made of it.
# Usage, after penstock_room(ROOM …): penstock_embed_openapi(ROOM)
function(penstock_embed_openapi room)
  set(output ${PROJECT_BINARY_DIR}/generated/openapi_files.cc)
  set(table ${PROJECT_BINARY_DIR}/generated/api_table.json)
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/generated)
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/docs/openapi/*)
  set(tools ${PROJECT_SOURCE_DIR}/tools)
  # What the program itself knows of its API.
  add_executable(penstock_api_table ${tools}/api_table.cc)
  target_link_libraries(penstock_api_table PRIVATE penstock_wire)
  penstock_compile_quickly(penstock_api_table)
  add_custom_command(
    OUTPUT ${table}
    COMMAND penstock_api_table > ${table}
    DEPENDS penstock_api_table
    VERBATIM)
  add_custom_command(
    OUTPUT ${output}
    COMMAND /usr/bin/python3 ${tools}/embed_openapi.py ${table} ${output}
    COMMAND ${CMAKE_COMMAND} -E touch ${output}
    DEPENDS ${sources} ${table} ${PROJECT_SOURCE_DIR}/VERSION ${tools}/embed_openapi.py ${tools}/embedding.py
            ${tools}/openapi.py ${tools}/openapi_page.py
    COMMENT "API description"
    VERBATIM)
  set_source_files_properties(${output} PROPERTIES COMPILE_OPTIONS -Wno-overlength-strings)
  target_sources(penstock_${room} PRIVATE ${output})
endfunction()
