# The part of Temporal's API that the sink speaks, compiled from src/sink/temporal/proto into the build folder. The code
# is protoc's, so none of our warnings apply to it, and its headers count as a system's.
find_package(Protobuf REQUIRED)
find_library(GRPC_CPP_LIBRARY grpc++ REQUIRED)
find_library(GRPC_LIBRARY grpc REQUIRED)
find_library(GPR_LIBRARY gpr REQUIRED)
find_library(ABSL_SYNCHRONIZATION_LIBRARY absl_synchronization REQUIRED)  # of its inline functions
find_program(GRPC_CPP_PLUGIN grpc_cpp_plugin REQUIRED)

set(proto_root ${PROJECT_SOURCE_DIR}/src/sink/temporal/proto)
set(proto_out ${PROJECT_BINARY_DIR}/generated/temporal)
file(MAKE_DIRECTORY ${proto_out})
file(GLOB_RECURSE protos CONFIGURE_DEPENDS ${proto_root}/*.proto)
set(proto_sources "")
foreach(proto ${protos})
  file(RELATIVE_PATH stem ${proto_root} ${proto})
  string(REGEX REPLACE "\\.proto$" "" stem ${stem})
  set(outputs ${proto_out}/${stem}.pb.cc ${proto_out}/${stem}.pb.h)
  set(plugin "")
  if(stem MATCHES "/service$")
    list(APPEND outputs ${proto_out}/${stem}.grpc.pb.cc ${proto_out}/${stem}.grpc.pb.h)
    set(plugin --grpc_out=${proto_out} --plugin=protoc-gen-grpc=${GRPC_CPP_PLUGIN})
  endif()
  add_custom_command(
    OUTPUT ${outputs}
    COMMAND ${Protobuf_PROTOC_EXECUTABLE} -I${proto_root} --cpp_out=${proto_out} ${plugin} ${proto}
    DEPENDS ${protos}
    VERBATIM)
  list(APPEND proto_sources ${outputs})
endforeach()

add_library(penstock_temporal_proto STATIC ${proto_sources})
target_include_directories(penstock_temporal_proto SYSTEM PUBLIC ${proto_out})
target_link_libraries(penstock_temporal_proto PUBLIC protobuf::libprotobuf ${GRPC_CPP_LIBRARY}
                                                     ${GRPC_LIBRARY} ${GPR_LIBRARY} ${ABSL_SYNCHRONIZATION_LIBRARY})
set_target_properties(penstock_temporal_proto PROPERTIES CXX_CLANG_TIDY "")
if(PENSTOCK_SANITIZE)
  # As our own code: protobuf's types have other members under the thread sanitizer.
  target_compile_options(penstock_temporal_proto PRIVATE -fsanitize=${PENSTOCK_SANITIZE} -O0)
endif()
