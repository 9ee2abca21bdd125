//===- FakeMode.h - A scope in which tensor calls build a model *- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_TRACE_FAKEMODE_H
#define FORETRACE_TRACE_FAKEMODE_H

#include "foretrace/trace/RealTensor.h"
#include "foretrace/trace/Tensor.h"

#include <stdexcept>

// foretrace/plugin.h
extern "C" struct ft_op_registration;

namespace ft {

struct FakeModeOptions {
  /// The model's name.
  std::string name = "model";
  /// Sizes and numbers that data decide (`nonzero`, `item`) are symbols, known
  /// when the model runs. Without, a call that needs one is an error (FT0306).
  bool symbols = false;
  /// A tensor with data as an argument of a call is made fake on the way (it
  /// becomes a constant of the model) instead of being refused.
  bool allowNonFake = false;
  /// A fake of another mode as an argument becomes an input of this mode with
  /// the same metadata, instead of being refused.
  bool convertForeign = false;
};

/// What a tensor that a mode makes stands for in the model.
enum class TensorKind : uint8_t { Input, Parameter, Buffer, Constant };

/// A tensor of a module with data, to be made fake.
struct NamedReal {
  std::string name;
  RealTensor tensor;
  TensorKind kind = TensorKind::Parameter;
};
/// A tensor of a fake module.
struct NamedTensor {
  std::string name;
  Tensor tensor;
};
/// Looks a tensor up by name; undefined if there is none.
FORETRACE_API Tensor find(const std::vector<NamedTensor> &module,
                          const std::string &name);

/// A model being traced, and the scope that tracing happens in. Not
/// thread-safe; modes are independent of each other. Tensors keep what they
/// need of their mode alive.
///
/// A call belongs to the mode whose Scope is open on this thread; without one,
/// to the mode of its arguments. Calls with neither fail, and so do calls with
/// tensors of two modes.
class FORETRACE_API FakeMode {
public:
  explicit FakeMode(FakeModeOptions options = {});
  ~FakeMode();
  FakeMode(const FakeMode &) = delete;
  FakeMode &operator=(const FakeMode &) = delete;

  /// Makes a mode the active one of this thread. Scopes of two modes do not
  /// nest: the inner one is an error of its mode, and has no effect.
  class FORETRACE_API Scope {
  public:
    explicit Scope(FakeMode &mode);
    ~Scope();
    Scope(const Scope &) = delete;
    Scope &operator=(const Scope &) = delete;

  private:
    bool entered = false;
    std::shared_ptr<detail::TraceState> outer;
  };

  /// Leaves the active mode of this thread for a scope.
  class FORETRACE_API Pause {
  public:
    Pause();
    ~Pause();
    Pause(const Pause &) = delete;
    Pause &operator=(const Pause &) = delete;

  private:
    std::shared_ptr<detail::TraceState> outer;
  };

  //===--- Tensors of the model -------------------------------------------===//
  // Names must be unique. Parameters of a floating-point or complex dtype
  // require a gradient.
  Tensor input(const std::string &name, const TensorDesc &desc,
               Here here = Here::current());
  Tensor parameter(const std::string &name, const TensorDesc &desc,
                   Here here = Here::current());
  Tensor buffer(const std::string &name, const TensorDesc &desc,
                Here here = Here::current());
  /// A fake on `device` of a tensor that is on the device meta: an input.
  Tensor fromMeta(const Tensor &meta, DeviceId device, const std::string &name,
                  Here here = Here::current());

  /// The fake of a tensor with data. The same tensor (data, offset, sizes,
  /// strides, dtype) gives the same fake, views of one storage share one fake
  /// storage. The data is not read before the model is compiled, except for
  /// constants of up to 16 elements on the CPU, whose value is known to the
  /// trace until something writes it.
  Tensor fake(const RealTensor &real, const std::string &name = "",
              TensorKind kind = TensorKind::Constant,
              Here here = Here::current());

  /// All tensors of a module, in their order. Those that are one tensor are one
  /// fake, which has the first of their names; storages stay shared.
  std::vector<NamedTensor> fake(const std::vector<NamedReal> &module,
                                Here here = Here::current());
  /// A copy of a module of this or another mode: new tensors of the model,
  /// named `prefix` + name, which share storages as those of the module do.
  std::vector<NamedTensor> copy(const std::vector<NamedTensor> &module,
                                const std::string &prefix,
                                Here here = Here::current());

  /// A result of the model. Results are returned in the order of these calls.
  void output(const std::string &name, const Tensor &tensor,
              Here here = Here::current());

  /// Data may be others from here on: a symbol that was made for a tensor's
  /// data is not used for it again.
  void newEpoch();

  //===--- Custom operators -----------------------------------------------===//
  // Called by ft::call("ns::name", …). Without a fake rule the kernel is run on
  // zeros to learn its results' metadata, if `learn`. False after an error.
  /// Lets a plug-in library register its operators; see foretrace/plugin.h.
  bool loadPlugin(const std::string &path, bool learn = false,
                  Here here = Here::current());
  bool registerOp(const ft_op_registration &op, bool learn = false,
                  Here here = Here::current());

  //===--- Errors ---------------------------------------------------------===//
  bool ok() const;
  /// The first error; one with an empty message if there is none.
  const Diagnostic &error() const;
  /// How many calls failed on their own account, not because of an argument
  /// that had failed before.
  size_t errorCount() const;

  //===--- The module -----------------------------------------------------===//
  const std::string &name() const;
  /// The operations so far.
  size_t numOperations() const;
  /// Elements of all parameters; those of one storage count once.
  int64_t numParameterElements() const;
  /// The module as MLIR text, as after stage fake.
  std::string print();

  /// For the library's own use.
  const std::shared_ptr<detail::TraceState> &impl() const { return state; }

private:
  std::shared_ptr<detail::TraceState> state;
};

/// While one lives, what is traced on this thread needs no gradient.
class FORETRACE_API NoGrad {
public:
  NoGrad();
  ~NoGrad();
  NoGrad(const NoGrad &) = delete;
  NoGrad &operator=(const NoGrad &) = delete;

private:
  bool outer;
};

#if defined(__cpp_exceptions)
/// What throwIfFailed throws: the text of the mode's first error.
class TraceError : public std::runtime_error {
public:
  explicit TraceError(const Diagnostic &error)
      : std::runtime_error(error.render()), diagnostic(error) {}
  Diagnostic diagnostic;
};

inline void throwIfFailed(const FakeMode &mode) {
  if (!mode.ok())
    throw TraceError(mode.error());
}
#endif

} // namespace ft

#endif // FORETRACE_TRACE_FAKEMODE_H
