# Finds everything the build needs; one message for each optional package.
find_package(MLIR 22.1 REQUIRED CONFIG
             HINTS /usr/lib/llvm-22/lib/cmake/mlir)
find_package(ZLIB REQUIRED)
find_package(Threads REQUIRED)
find_package(CLI11 REQUIRED CONFIG)
if(FORETRACE_TESTS)
  find_package(GTest REQUIRED)
endif()
list(APPEND CMAKE_MODULE_PATH ${MLIR_CMAKE_DIR} ${LLVM_CMAKE_DIR})
include(TableGen)
include(AddLLVM)
include(AddMLIR)
# Debian's LLVM is one shared libLLVM and one shared libMLIR; never mix them
# with the static archives.
set(FORETRACE_MLIR_LIBS MLIR LLVM)
set(FORETRACE_LLVM_TOOLS_DIR ${LLVM_TOOLS_BINARY_DIR})

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  set(CMAKE_C_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
endif()

find_package(CUDAToolkit QUIET)
if(CUDAToolkit_FOUND)
  find_program(FORETRACE_PTXAS ptxas HINTS ${CUDAToolkit_BIN_DIR})
  message(STATUS "CUDA Toolkit ${CUDAToolkit_VERSION}: kernels can be assembled")
else()
  message(STATUS "no CUDA Toolkit: assembly of CUDA kernels is off")
endif()
