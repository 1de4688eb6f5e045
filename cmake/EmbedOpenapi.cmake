# Embeds the description of the API (docs/openapi/) and the page made of it.
# Usage, after penstock_room(ROOM …): penstock_embed_openapi(ROOM)
function(penstock_embed_openapi room)
  set(output ${PROJECT_BINARY_DIR}/generated/openapi_files.cc)
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/generated)
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/docs/openapi/*)
  set(tools ${PROJECT_SOURCE_DIR}/tools)
  add_custom_command(
    OUTPUT ${output}
    COMMAND /usr/bin/python3 ${tools}/embed_openapi.py ${output}
    COMMAND ${CMAKE_COMMAND} -E touch ${output}
    DEPENDS ${sources} ${PROJECT_SOURCE_DIR}/VERSION ${tools}/embed_openapi.py ${tools}/embedding.py
            ${tools}/openapi.py ${tools}/openapi_page.py
    COMMENT "API description"
    VERBATIM)
  set_source_files_properties(${output} PROPERTIES COMPILE_OPTIONS -Wno-overlength-strings)
  target_sources(penstock_${room} PRIVATE ${output})
endfunction()
