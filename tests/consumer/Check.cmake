# cmake -D build=… -D source=… -D model=… -P Check.cmake
# Installs the build into a fresh prefix, builds the consumer against it with
# nothing else in sight, and runs it.
set(work ${build}/tests/consumer)
file(REMOVE_RECURSE ${work})
function(step)
  execute_process(COMMAND ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()
step(${CMAKE_COMMAND} --install ${build} --prefix ${work}/prefix)
step(${CMAKE_COMMAND} -S ${source} -B ${work}/build -G Ninja
  -D CMAKE_PREFIX_PATH=${work}/prefix -D CMAKE_CXX_COMPILER=${compiler})
step(${CMAKE_COMMAND} --build ${work}/build)
step(${work}/build/consumer ${model} ${work}/model)
step(${work}/prefix/bin/foretrace run ${work}/model.so)
step(${work}/prefix/bin/foretrace run ${work}/model-trace.so)
