# Finds what penstock stands on. With PS_STATIC, archives are preferred to shared objects.
if(PS_STATIC)
  set(CMAKE_FIND_LIBRARY_SUFFIXES .a .so)
endif()

find_package(Threads REQUIRED)
find_package(ZLIB REQUIRED)

# Debian's packages have no CMake files (some no .pc either), so: header + library. Fills in
# PS_NAME_INCLUDE and PS_NAME_LIBRARY, and makes PkgConfig::NAME. Further arguments: more libraries.
function(ps_find name header libraries folders package)
  find_path(PS_${name}_INCLUDE ${header} PATH_SUFFIXES ${folders})
  find_library(PS_${name}_LIBRARY NAMES ${libraries} PATH_SUFFIXES ${folders})
  if(NOT PS_${name}_INCLUDE OR NOT PS_${name}_LIBRARY)
    message(FATAL_ERROR "${header} or lib${libraries} not found: apt-get install ${package}")
  endif()
  add_library(PkgConfig::${name} INTERFACE IMPORTED)
  target_include_directories(PkgConfig::${name} INTERFACE ${PS_${name}_INCLUDE})
  target_link_libraries(PkgConfig::${name} INTERFACE ${PS_${name}_LIBRARY} ${ARGN})
endfunction()
ps_find(csv csv.h csv "" libcsv-dev)
ps_find(fyaml libfyaml.h fyaml "" libfyaml-dev)
ps_find(deflate libdeflate.h deflate "" libdeflate-dev)

# HDF5's archive needs what its filters need; its network drivers stay out.
set(hdf5_needs)
if(PS_STATIC)
  ps_find(sz szlib.h sz "" libaec-dev)
  ps_find(aec libaec.h aec "" libaec-dev)
  set(hdf5_needs PkgConfig::sz PkgConfig::aec ZLIB::ZLIB ${CMAKE_DL_LIBS} m)
endif()
ps_find(hdf5 hdf5.h "hdf5_serial;hdf5" "hdf5/serial" libhdf5-dev ${hdf5_needs})
ps_find(hdf5_hl hdf5_hl.h "hdf5_serial_hl;hdf5_hl" "hdf5/serial" libhdf5-dev PkgConfig::hdf5)
add_library(HDF5::HDF5 ALIAS PkgConfig::hdf5_hl)

ps_find(blas cblas.h openblas "openblas-pthread;x86_64-linux-gnu/openblas-pthread;openblas"
  libopenblas-dev)
set(PS_BLAS PkgConfig::blas)

set(PS_HAVE_CUDA OFF)
if(PS_CUDA)
  include(CheckLanguage)
  if(NOT CMAKE_CUDA_COMPILER)
    find_program(CMAKE_CUDA_COMPILER nvcc HINTS /usr/local/cuda/bin $ENV{CUDA_HOME}/bin)
  endif()
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    include(CudaArchitectures)
    enable_language(CUDA)
    set(CMAKE_CUDA_STANDARD 17)
    find_package(CUDAToolkit REQUIRED)
    set(PS_HAVE_CUDA ON)
    message(STATUS "cuda backend: CUDA ${CUDAToolkit_VERSION}, architectures ${CMAKE_CUDA_ARCHITECTURES}")
  else()
    message(STATUS "cuda backend: no nvcc found, building without it "
      "(install NVIDIA's cuda-toolkit package, or apt-get install nvidia-cuda-toolkit)")
  endif()
endif()
