# Vector code of the cpu backend: the same source (included by FILE_baseline.c, FILE_v3.c and
# FILE_v4.c) compiled once per instruction set and chosen at run time. errno and traps are looked
# at by nobody; rounding stays as written.
if(CMAKE_SYSTEM_PROCESSOR MATCHES "x86_64|AMD64")
  set(v3 -march=x86-64-v3)
  set(v4 -march=x86-64-v4 -mprefer-vector-width=512)
endif()
set(vector_flags -O3 -fno-math-errno -fno-trapping-math)
foreach(level baseline v3 v4)
  file(GLOB vector_sources CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/kernels/*/*_${level}.c)
  set_source_files_properties(${vector_sources} PROPERTIES
    COMPILE_OPTIONS "${vector_flags};${${level}}")
endforeach()

# The scalar functions as a string, for the generated CUDA kernels.
set(scalar_headers ${CMAKE_SOURCE_DIR}/kernels/map/scalar.h ${CMAKE_SOURCE_DIR}/kernels/map/checked.h)
string(REPLACE ";" "|" scalar_inputs "${scalar_headers}")
set(scalar_text ${CMAKE_BINARY_DIR}/generated/map_scalar_text.c)
add_custom_command(OUTPUT ${scalar_text} DEPENDS ${scalar_headers} ${CMAKE_SOURCE_DIR}/cmake/EmbedText.cmake
  COMMAND ${CMAKE_COMMAND} "-DINPUTS=${scalar_inputs}" -DOUTPUT=${scalar_text} -DNAME=ps_map_scalar_text
          -P ${CMAKE_SOURCE_DIR}/cmake/EmbedText.cmake VERBATIM)
target_sources(ps_kernels PRIVATE ${scalar_text})

# doctor tells which GPUs this binary holds machine code for.
if(PS_HAVE_CUDA)
  string(REPLACE ";" " " architectures "${CMAKE_CUDA_ARCHITECTURES}")
  set_source_files_properties(${CMAKE_SOURCE_DIR}/kernels/cuda/error_cuda.c PROPERTIES
    COMPILE_DEFINITIONS "PS_CUDA_ARCHITECTURES=\"${architectures}\"")
endif()
