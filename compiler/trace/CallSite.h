//===- CallSite.h - Which mode a call belongs to ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_TRACE_CALLSITE_H
#define FORETRACE_COMPILER_TRACE_CALLSITE_H

#include "compiler/trace/TraceState.h"

namespace ft::detail {

/// Finds the mode of a call, then the tensors of that mode that its arguments
/// stand for.
///
///   CallSite site("add.Tensor", here);
///   if (site.note(self) && site.note(other) && site.settle())
///     … site.resolve("self", self)
class CallSite {
public:
  CallSite(llvm::StringRef callee, const Here &here)
      : callee(callee), here(here), trace(activeTrace()) {}

  /// Looks at one argument. False if it failed before, or is of another mode
  /// than an earlier one where no scope is open; the call then fails.
  bool note(const Tensor &t);
  bool note(const SymInt &v);
  /// After all arguments: false if there is no mode.
  bool settle();

  /// The tensor of the mode that a defined argument stands for, inside of the
  /// region that is being traced; nothing after an error.
  std::optional<uint32_t> resolve(const llvm::Twine &argument, const Tensor &t);

  void refuse(DiagId id, const llvm::Twine &message,
              const llvm::Twine &help = "");
  /// What stands for the results of a call that failed.
  Tensor failedResult() const;

  llvm::StringRef callee;
  const Here &here;
  std::shared_ptr<TraceState> trace;

private:
  /// What an argument that failed belongs to, or an error without a mode.
  std::shared_ptr<Origin> failedOrigin;
};

} // namespace ft::detail

#endif // FORETRACE_COMPILER_TRACE_CALLSITE_H
