//===- Artefact.h - What a compiled model consists of ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The hand-over from code generation to emission: plain data, no MLIR.

#ifndef FORETRACE_COMPILER_EMIT_ARTEFACT_H
#define FORETRACE_COMPILER_EMIT_ARTEFACT_H

#include "llvm/Support/Error.h"

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

namespace ft {

/// A DLPack dtype: kDLFloat/32 is {2, 32}; bool is {6, 8}.
struct AbiDType {
  uint8_t code = 2;
  uint8_t bits = 32;
};

/// An input, output, parameter or buffer, as the user sees it.
struct AbiValue {
  std::string name;
  AbiDType dtype;
  /// Annotated sizes and strides (in elements), -1 where symbolic; `dims` is
  /// the text of the sizes ("16", "batch") and may be empty when all are
  /// static.
  std::vector<int64_t> sizes;
  std::vector<int64_t> strides;
  std::vector<std::string> dims;
  /// An input that `forward` writes (its new value is also visible to the
  /// caller), or a buffer that it writes.
  bool written = false;
  /// An output of which the data decide a size.
  bool found = false;
  /// Of a program: saved in the arena.
  bool inArena = false;
  /// An input or state of a model that is trained: backward gives its gradient.
  bool hasGradient = false;
  /// The N of cuda:N; -1: it is in the host's memory.
  int64_t cuda = -1;
};

/// A parameter or buffer. A written one needs both offsets; one that is not
/// written has weightsOffset only, or none (-1) when it was packed or dropped.
/// The bytes at an offset are laid out in the annotated strides.
struct AbiState : AbiValue {
  bool isParameter = true;
  int64_t weightsOffset = -1;
  int64_t stateOffset = -1;
};

/// A size that the run decides; see ft_symbol_info of the runtime's interface.
struct AbiSymbol {
  /// As the compiler prints it ("s0"), and as the user and `dims` call it.
  std::string name, title;
  int64_t lower = 0;
  int64_t upper = std::numeric_limits<int64_t>::max();
  int64_t hint = 2;
  /// Read from a dim of an input whose size is scale * symbol + offset, with a
  /// positive scale. Input -1: the data decide.
  int64_t input = -1, dim = 0, scale = 1, offset = 0;
};

struct AbiGuard {
  std::string text;
  std::string source;
};

/// How a constant is laid out in the weights: a row-major array of `dims`,
/// whose element at index p is the source element at logical index
///   s[j] = base[j] + sum over i of coef[j][i] * p[i]
/// or zero when some s[j] is outside [0, sizes[j]).
///
/// Example: a linear weight W[N, K] (sizes {N, K}, strides {K, 1}) in panels
/// of 32 rows, P[p0][k][r] = W[32 * p0 + r][k]:
///   dims = {(N + 31) / 32, K, 32}, coef = {{32, 0, 1}, {0, 1, 0}}.
/// Without dims the constant is copied densely in the order of its sizes.
struct ConstantLayout {
  std::vector<int64_t> dims;
  std::vector<std::vector<int64_t>> coef;
  /// May be empty: all 0.
  std::vector<int64_t> base;
};

/// A piece of the weights. `data` points at source element 0 (storage offset
/// applied) and must stay valid until emission is over: normally it points
/// into the mapped archive. A null `data` gives zeros.
struct Constant {
  /// In the weights, in bytes; a multiple of 64. Constants are sorted by
  /// offset, do not overlap, and gaps are zero.
  uint64_t offset = 0;
  /// 1, 2, 4, 8 or 16.
  unsigned elementBytes = 4;
  const void *data = nullptr;
  std::vector<int64_t> sizes;
  /// In elements.
  std::vector<int64_t> strides;
  ConstantLayout layout;

  /// What it takes in the weights.
  uint64_t bytes() const;
};

/// A C kernel of a custom operator that the object calls, and the object files
/// or static archives that define it.
struct KernelSource {
  std::string op;
  std::string symbol;
  std::vector<std::string> files;
};

/// What a tensor of a program is to the user, see ft_place of the runtime's
/// internal interface.
struct AbiPlace {
  enum Kind {
    Input,
    Output,
    State,
    Tangent,
    Gradient,
    Saved,
    InputGradient,
    Optimizer,
    Hyperparameter,
    InputTangent
  };
  Kind kind = Input;
  int64_t index = 0;
};

/// One program of a model that is trained.
struct AbiProgram {
  /// "forward", "backward" or "update".
  std::string name;
  std::vector<AbiValue> inputs, outputs;
  std::vector<AbiPlace> inputPlaces, outputPlaces;
  std::vector<AbiSymbol> symbols;
  uint64_t arenaBytes = 0;
  /// Where its own constants start in the weights.
  uint64_t weightsBase = 0;
  /// As Artefact::object; backward defines ft_gen_backward and
  /// ft_gen_backward_sizes.
  std::string object;

  /// "ft_gen_forward", "ft_gen_backward"
  std::string entry() const { return "ft_gen_" + name; }
  /// "ft_gen_sizes", "ft_gen_backward_sizes"
  std::string sizes() const {
    return name == "forward" ? "ft_gen_sizes" : "ft_gen_" + name + "_sizes";
  }
};

/// The kernels of a model whose values are on a GPU.
/// What a kernel takes of a multiprocessor, for reports.
struct AbiKernelUse {
  std::string name;
  std::optional<unsigned> registers = {}; ///< of a thread; ptxas says
  int64_t sharedBytes = 0;                ///< of a block
  unsigned spillBytes = 0;
};

struct AbiDeviceCode {
  /// As cuModuleLoadData takes it, without the 0 at the end.
  std::string ptx;
  /// The same, assembled; may be empty.
  std::string cubin;
  /// Their names, by the numbers that the object calls them by.
  std::vector<std::string> kernels;
  int64_t threads = 0; ///< of a block
  int64_t device = 0;  ///< the N of cuda:N
  /// 90: the least that it runs on; exact: and the only one.
  unsigned sm = 0;
  bool exact = false;
  /// Some values are on the CPU, which has an arena, too.
  bool isMixed = false;
  std::vector<AbiKernelUse> uses;
};

struct Artefact {
  /// A C identifier: the prefix of the wrappers' names.
  std::string name;
  /// What the object was generated for: an LLVM CPU name, and the LLVM names
  /// of the features it may use ("avx2", "fma", without '+').
  std::string cpu = "x86-64";
  std::vector<std::string> features;

  std::vector<AbiValue> inputs;
  std::vector<AbiValue> outputs;
  std::vector<AbiState> state;
  std::vector<AbiSymbol> symbols;
  std::vector<AbiGuard> guards;

  std::vector<Constant> constants;
  uint64_t weightsBytes = 0;
  uint64_t stateBytes = 0;
  /// With symbols: of a call with the sizes of their hints.
  uint64_t arenaBytes = 0;

  std::vector<KernelSource> kernels;
  std::optional<AbiDeviceCode> device;
  /// The object is instrumented by AddressSanitizer. What the model is linked
  /// with is too, and only a program with AddressSanitizer can load it.
  bool sanitized = false;

  /// The bytes of an ELF relocatable object (PIC) that defines
  /// ft_gen_forward, and with symbols ft_gen_sizes: see runtime/src/abi.h.
  std::string object;

  /// Of a model that is trained: forward, backward and, with an optimizer,
  /// update. `object` is empty then, and `state` has the values at the start.
  std::vector<AbiProgram> programs;
  int64_t numSaved = 0;
  /// A row of compiler/optimizer/Optimizers.def, and the tensors of its state;
  /// empty: none.
  std::string optimizer;
  std::vector<AbiValue> optimizerState;

  /// A program as an artefact of its own: what its description is made from.
  Artefact describedAs(const AbiProgram &program) const;

  /// FT0070 if the parts contradict each other.
  llvm::Error verify() const;
};

} // namespace ft

#endif // FORETRACE_COMPILER_EMIT_ARTEFACT_H
