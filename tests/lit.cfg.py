# The configuration of lit for all .mlir and .test files under tests/. The
# build passes its folders as parameters, so that no generated file is needed:
#
#   lit -D bin=build/bin -D llvm=/usr/lib/llvm-22/bin tests/tools
#
# In RUN lines: %foretrace, %ft-opt, %lib (build/lib), %plugins (those of tests/plugins), %data (tests/data), %python, %runtime
# (runtime/include), %npy (tools/Inputs/npy.py), and `%exits N command…`, which succeeds if the command ends
# with exit code N.
import os
import sys

import lit.formats

config.name = "foretrace"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["plugins", "Inputs", "data", "inputs", "unit", "conformance", "fuzz", "consumer"]
config.test_source_root = os.path.dirname(__file__)

bin_dir = os.path.abspath(lit_config.params["bin"])
llvm_dir = lit_config.params["llvm"]
config.test_exec_root = os.path.join(os.path.dirname(bin_dir), "tests", "lit")
os.makedirs(config.test_exec_root, exist_ok=True)

config.environment["PATH"] = os.pathsep.join(
    [bin_dir, llvm_dir, config.environment["PATH"]]
)
config.environment["NO_COLOR"] = "1"
for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS"):
    if name in os.environ:
        config.environment[name] = os.environ[name]

here = config.test_source_root
config.substitutions += [
    ("%foretrace", os.path.join(bin_dir, "foretrace")),
    ("%ft-opt", os.path.join(bin_dir, "ft-opt")),
    ("%exits", os.path.join(here, "exits")),
    ("%npy", "python3 " + os.path.join(here, "tools", "Inputs", "npy.py")),
    ("%data", os.path.join(here, "data")),
    ("%python", sys.executable),
    ("%plugins", os.path.join(os.path.dirname(bin_dir), "lib", "test-plugins")),
    ("%lib", os.path.join(os.path.dirname(bin_dir), "lib")),
    ("%runtime", os.path.join(here, "..", "runtime", "include")),
]
if os.path.exists("/dev/full"):
    config.available_features.add("dev-full")
# Where foretrace looks for it (compiler/codegen/cuda/Ptxas.h).
ptxas_dirs = os.environ["PATH"].split(os.pathsep) + ["/usr/local/cuda/bin"]
if "CUDA_HOME" in os.environ:
    config.environment["CUDA_HOME"] = os.environ["CUDA_HOME"]
    ptxas_dirs.append(os.path.join(os.environ["CUDA_HOME"], "bin"))
if any(os.access(os.path.join(d, "ptxas"), os.X_OK) for d in ptxas_dirs):
    config.available_features.add("ptxas")
if os.geteuid() != 0:
    config.available_features.add("not-root")
