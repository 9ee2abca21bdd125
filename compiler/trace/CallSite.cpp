//===- CallSite.cpp - Which mode a call belongs to -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/trace/CallSite.h"

using namespace llvm;

namespace ft::detail {

void CallSite::refuse(DiagId id, const Twine &message, const Twine &help) {
  if (trace) {
    trace->fail(id, here, message, help);
    return;
  }
  std::string where =
      here.line ? std::string(here.file) + ":" + std::to_string(here.line) : "";
  failedOrigin = std::make_shared<FailureOrigin>(
      Diagnostic{id, where, message.str(), help.str()});
}

Tensor CallSite::failedResult() const {
  if (trace)
    return trace->failedTensor();
  return TraceState::handle(failedOrigin, TraceState::kFailed);
}

bool CallSite::note(const Tensor &t) {
  const std::shared_ptr<Origin> &origin = TraceState::originOf(t);
  if (!origin || origin->kind == Origin::Real)
    return true;
  if (origin->kind == Origin::Failure ||
      TraceState::idOf(t) == TraceState::kFailed) {
    failedOrigin = origin;
    return false;
  }
  if (!trace) {
    trace = std::static_pointer_cast<TraceState>(origin);
    return true;
  }
  TraceState *of = TraceState::traceOf(t);
  if (of == trace.get() || activeTrace())
    return true;
  const std::string &name = trace->options.name;
  refuse(DiagId::TraceMisuse,
         callee + " is called with tensors of two modes, " +
             (name == of->options.name
                  ? "both of the name '" + name + "'"
                  : "'" + name + "' and '" + of->options.name + "'"),
         "open the scope of the mode that the call belongs to");
  return false;
}

bool CallSite::note(const SymInt &v) {
  const std::shared_ptr<SymNode> &node = TraceState::nodeOf(v);
  if (!node)
    return true;
  if (!node->value) {
    if (!node->trace) // nothing has told of it yet
      refuse(DiagId::TraceMisuse,
             callee + " is called with a number that failed outside of every "
                      "mode, or that an undefined tensor was asked for");
    else
      failedOrigin = node->trace;
    return false;
  }
  if (!trace)
    trace = node->trace;
  if (node->trace != trace) {
    refuse(DiagId::TraceMisuse, callee +
                                    " is called with a number of the "
                                    "mode '" +
                                    node->trace->options.name +
                                    "', not of its own, '" +
                                    trace->options.name + "'");
    return false;
  }
  // Regions are isolated, and take tensors only.
  if (node->value.getParentBlock() != trace->builder.getInsertionBlock()) {
    refuse(DiagId::TraceMisuse,
           callee + " is called with the number " + node->dim.str() +
               " of outside of the branch or loop that it stands in",
           "pass it on as a tensor, with ops::scalar_tensor");
    return false;
  }
  return true;
}

bool CallSite::settle() {
  if (trace)
    return true;
  refuse(DiagId::TraceMisuse,
         "no mode is active, and " + callee + " is given no fake tensor",
         "open a scope: ft::FakeMode::Scope scope(mode);");
  return false;
}

std::optional<uint32_t> CallSite::resolve(const Twine &argument,
                                          const Tensor &t) {
  auto what = [&] {
    return ("argument '" + argument + "' of " + callee).str();
  };
  auto inside = [&](const Tensor &own) -> std::optional<uint32_t> {
    if (!TraceState::tensorOf(own))
      return std::nullopt;
    std::optional<uint32_t> id = trace->visible(TraceState::idOf(own));
    if (!id)
      refuse(DiagId::TraceMisuse,
             what() + " was made inside of a branch or loop that is over",
             "return it from the region");
    return id;
  };
  TraceState *of = TraceState::traceOf(t);
  if (of == trace.get())
    return inside(t);
  if (!of) {
    const auto &origin = static_cast<RealOrigin &>(*TraceState::originOf(t));
    if (trace->options.allowNonFake)
      return inside(trace->fake(origin.real, "", TensorKind::Constant, here));
    refuse(DiagId::TraceMisuse, what() + " is a tensor with data, not a fake",
           "make it fake with FakeMode::fake, or set "
           "FakeModeOptions::allowNonFake");
    return std::nullopt;
  }
  if (trace->options.convertForeign)
    return inside(trace->adopt(t, here));
  refuse(DiagId::TraceMisuse,
         what() + " is a fake of the mode '" + of->options.name +
             "', the call belongs to the mode '" + trace->options.name + "'",
         "set FakeModeOptions::convertForeign to make it an input");
  return std::nullopt;
}

} // namespace ft::detail
