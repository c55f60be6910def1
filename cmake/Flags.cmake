# Flags of every target, as one interface library.
add_library(ps_flags INTERFACE)
set(warnings -Wall -Wextra -Wvla -Wundef) # C++ calls every function named like its struct shadowed
set(c_warnings ${warnings} -Wshadow -Wstrict-prototypes -Wmissing-prototypes)
set(cuda_warnings "SHELL:-Xcompiler=-Wall,-Wextra")
if(PS_WERROR)
  list(APPEND c_warnings -Werror)
  list(APPEND warnings -Werror)
  list(APPEND cuda_warnings --Werror=all-warnings)
endif()
# snprintf cuts on purpose wherever a message or name may be longer than its buffer.
list(APPEND c_warnings $<$<C_COMPILER_ID:GNU>:-Wno-format-truncation>)
target_compile_options(ps_flags INTERFACE
  $<$<COMPILE_LANGUAGE:C>:${c_warnings}>
  $<$<COMPILE_LANGUAGE:CXX>:${warnings}>
  $<$<COMPILE_LANGUAGE:CUDA>:${cuda_warnings}>
  # Every rounding is written down: no contraction to fma, no fast-math, on any backend.
  $<$<COMPILE_LANGUAGE:C,CXX>:-ffp-contract=off>
  $<$<COMPILE_LANGUAGE:CUDA>:-lineinfo>
  $<$<COMPILE_LANGUAGE:CUDA>:--fmad=false>)
target_compile_definitions(ps_flags INTERFACE _GNU_SOURCE PS_HAVE_CUDA=$<BOOL:${PS_HAVE_CUDA}>)
if(PS_HAVE_CUDA)
  target_include_directories(ps_flags SYSTEM INTERFACE ${CUDAToolkit_INCLUDE_DIRS})
endif()
if(PS_SANITIZE)
  string(COMPARE EQUAL "${CMAKE_C_COMPILER_ID}" GNU PS_GCC)
  target_compile_options(ps_flags INTERFACE
    $<$<COMPILE_LANGUAGE:C,CXX>:-fsanitize=${PS_SANITIZE}>
    $<$<COMPILE_LANGUAGE:C,CXX>:-fno-omit-frame-pointer>
    $<$<COMPILE_LANGUAGE:C,CXX>:-fno-sanitize-recover=all>
    # GCC's guesses about unset variables are wrong in instrumented code, as its manual says.
    $<$<AND:$<COMPILE_LANGUAGE:C,CXX>,$<BOOL:${PS_GCC}>>:-Wno-maybe-uninitialized>)
  target_link_options(ps_flags INTERFACE -fsanitize=${PS_SANITIZE})
endif()
if(PS_FUZZ) # the coverage that libFuzzer follows
  target_compile_options(ps_flags INTERFACE $<$<COMPILE_LANGUAGE:C,CXX>:-fsanitize=fuzzer-no-link>)
endif()
