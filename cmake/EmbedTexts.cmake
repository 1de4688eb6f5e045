# Embeds the SQL or the Lua of one engine, which lies beside the code that calls it, into the library of that engine.
# Usage, after penstock_room(engine/ENGINE …):
#   penstock_embed_texts(ENGINE HEADER TYPE FUNCTION=PATTERN…)    PATTERN: sql/*, schema.sql, lua/*, … in the
#   folders of the engine
function(penstock_embed_texts engine header type)
  set(src ${PROJECT_SOURCE_DIR}/src)
  set(output ${PROJECT_BINARY_DIR}/generated/${engine}_texts.cc)
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/generated)
  set(arguments "")
  set(all "")
  foreach(pair ${ARGN})
    string(REGEX MATCH "^(.+)=(.+)$" ignored ${pair})
    set(function ${CMAKE_MATCH_1})
    set(pattern ${CMAKE_MATCH_2})
    file(GLOB files CONFIGURE_DEPENDS ${src}/engine/${engine}/${pattern} ${src}/store/${engine}/${pattern}
         ${src}/store/*/${engine}/${pattern})
    list(APPEND arguments --function ${function} ${files})
    list(APPEND all ${files})
  endforeach()
  add_custom_command(
    OUTPUT ${output}
    COMMAND /usr/bin/python3 ${PROJECT_SOURCE_DIR}/tools/embed_texts.py ${output} engine/${engine}/${header}
            penstock::store::${engine} ${type} ${arguments}
    DEPENDS ${all} ${PROJECT_SOURCE_DIR}/tools/embed_texts.py
    VERBATIM)
  target_sources(penstock_engine_${engine} PRIVATE ${output})
endfunction()
