# Helper functions: every target of the project is made by one of these.

add_library(ft_options INTERFACE)
target_compile_options(ft_options INTERFACE -Wall -Wextra -Wno-unused-parameter)
if(FORETRACE_WERROR)
  target_compile_options(ft_options INTERFACE -Werror)
endif()
if(FORETRACE_SANITIZE)
  target_compile_options(ft_options INTERFACE -fsanitize=address,undefined
                         -fno-sanitize=vptr,function
                         -fno-omit-frame-pointer)
  target_link_options(ft_options INTERFACE -fsanitize=address,undefined)
endif()
if(FORETRACE_FUZZERS)
  target_compile_options(ft_options INTERFACE -fsanitize=fuzzer-no-link)
endif()
target_include_directories(ft_options INTERFACE
  ${CMAKE_SOURCE_DIR} ${CMAKE_BINARY_DIR})
target_include_directories(ft_options SYSTEM INTERFACE
  ${LLVM_INCLUDE_DIRS} ${MLIR_INCLUDE_DIRS})
target_link_options(ft_options INTERFACE -fuse-ld=lld)

# The MLIR headers that nearly every file reads, precompiled once. Several build
# trees may share one that was made before (its path must be the same for all,
# so that ccache can serve one tree with what another has compiled).
set(FORETRACE_PREBUILT_PCH "" CACHE FILEPATH
    "A precompiled tools/dev/cmake/MlirPch.h to use instead of making one")
if(NOT FORETRACE_PREBUILT_PCH)
  file(WRITE ${CMAKE_BINARY_DIR}/ft_pch.cpp "")
  add_library(ft_pch STATIC ${CMAKE_BINARY_DIR}/ft_pch.cpp)
  target_link_libraries(ft_pch PRIVATE ft_options)
  target_compile_options(ft_pch PRIVATE -fno-exceptions)
  target_precompile_headers(ft_pch PRIVATE
    ${CMAKE_SOURCE_DIR}/tools/dev/cmake/MlirPch.h)
endif()

# ft_add_library(NAME SRCS a.cpp … [LINK lib …] [NO_MLIR] [EXCEPTIONS])
# A static library of one folder. NO_MLIR: uses LLVM's Support only, and does
# not read the precompiled MLIR headers.
function(ft_add_library name)
  cmake_parse_arguments(ARG "NO_MLIR;EXCEPTIONS" "" "SRCS;LINK" ${ARGN})
  add_library(${name} STATIC ${ARG_SRCS})
  target_link_libraries(${name} PUBLIC ft_options ${ARG_LINK})
  if(NOT ARG_EXCEPTIONS)
    target_compile_options(${name} PRIVATE
      $<$<COMPILE_LANGUAGE:CXX>:-fno-exceptions>)
  endif()
  if(ARG_NO_MLIR)
    target_link_libraries(${name} PUBLIC LLVM)
  else()
    target_link_libraries(${name} PUBLIC ${FORETRACE_MLIR_LIBS})
    if(FORETRACE_PREBUILT_PCH)
      target_compile_options(${name} PRIVATE
        "$<$<COMPILE_LANGUAGE:CXX>:SHELL:-include-pch ${FORETRACE_PREBUILT_PCH}>")
    else()
      target_precompile_headers(${name} REUSE_FROM ft_pch)
    endif()
  endif()
endfunction()

# ft_add_tool(NAME SRCS … LINK …): a program in build/bin. Tools are built with
# exceptions, which CLI11 throws.
function(ft_add_tool name)
  cmake_parse_arguments(ARG "" "" "SRCS;LINK" ${ARGN})
  add_executable(${name} ${ARG_SRCS})
  target_link_libraries(${name} PRIVATE ft_options ${ARG_LINK})
  set_target_properties(${name} PROPERTIES
    BUILD_RPATH "${LLVM_LIBRARY_DIR};${CMAKE_BINARY_DIR}/lib"
    INSTALL_RPATH "${LLVM_LIBRARY_DIR};$ORIGIN/../lib")
endfunction()

# ft_add_unit_test(NAME SRCS … LINK …): one GoogleTest program, run by ctest.
function(ft_add_unit_test name)
  cmake_parse_arguments(ARG "" "" "SRCS;LINK" ${ARGN})
  ft_add_tool(${name} SRCS ${ARG_SRCS} LINK ${ARG_LINK} GTest::gtest_main)
  add_test(NAME unit/${name} COMMAND ${name})
endfunction()
