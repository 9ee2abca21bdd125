//===- FakeMode.cpp - The public shell of a mode ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "foretrace/trace/FakeMode.h"

#include "compiler/custom/Registration.h"
#include "compiler/support/Diagnostics.h"
#include "compiler/trace/TraceState.h"
#include "dialects/ft/CustomOps.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/raw_ostream.h"

namespace ft {

using detail::activeTrace;
using detail::TraceState;

FakeMode::FakeMode(FakeModeOptions options)
    : state(std::make_shared<TraceState>(std::move(options))) {}
FakeMode::~FakeMode() = default;

//===----------------------------------------------------------------------===//
// Scopes
//===----------------------------------------------------------------------===//

FakeMode::Scope::Scope(FakeMode &mode) {
  std::shared_ptr<TraceState> &active = activeTrace();
  if (active && active != mode.impl()) {
    const std::string &other = active->options.name;
    mode.impl()->fail(DiagId::TraceMisuse, {},
                      "the mode '" + mode.name() + "' is entered inside of " +
                          (other == mode.name()
                               ? std::string("another mode of that name")
                               : "the mode '" + other + "'") +
                          ": modes do not nest",
                      "leave the other mode first, or for a while with "
                      "FakeMode::Pause");
    return;
  }
  outer = std::move(active);
  active = mode.impl();
  entered = true;
}

FakeMode::Scope::~Scope() {
  if (entered)
    activeTrace() = std::move(outer);
}

FakeMode::Pause::Pause() : outer(std::move(activeTrace())) {
  activeTrace() = nullptr;
}
FakeMode::Pause::~Pause() { activeTrace() = std::move(outer); }

NoGrad::NoGrad() : outer(detail::gradEnabled()) {
  detail::gradEnabled() = false;
}
NoGrad::~NoGrad() { detail::gradEnabled() = outer; }

//===----------------------------------------------------------------------===//
// Tensors of the model
//===----------------------------------------------------------------------===//

static Tensor declare(TraceState &state, TensorKind kind,
                      const std::string &name, const TensorDesc &desc,
                      const Here &here) {
  TensorMeta meta;
  if (!state.describe(desc, meta, here))
    return state.failedTensor();
  if (kind == TensorKind::Input && !state.makeDynamic(name, desc, meta, here))
    return state.failedTensor();
  if (kind != TensorKind::Input && !desc.dynamicSizes().empty()) {
    state.fail(DiagId::TraceMisuse, here,
               "'" + name +
                   "' is no input: its sizes are not a call's to "
                   "choose");
    return state.failedTensor();
  }
  return state.addArgument(kind, name, std::move(meta), state.addStorage(),
                           here);
}

Tensor FakeMode::input(const std::string &name, const TensorDesc &desc,
                       Here here) {
  return declare(*state, TensorKind::Input, name, desc, here);
}
Tensor FakeMode::parameter(const std::string &name, const TensorDesc &desc,
                           Here here) {
  return declare(*state, TensorKind::Parameter, name, desc, here);
}
Tensor FakeMode::buffer(const std::string &name, const TensorDesc &desc,
                        Here here) {
  return declare(*state, TensorKind::Buffer, name, desc, here);
}

Tensor FakeMode::fromMeta(const Tensor &meta, DeviceId device,
                          const std::string &name, Here here) {
  const detail::TraceTensor *from = TraceState::tensorOf(meta);
  if (!from || from->meta.device.kind != ft::Device::Meta) {
    state->fail(DiagId::TraceMisuse, here,
                "fromMeta takes a tensor on the device meta, not " +
                    (from ? from->meta.str()
                          : std::string("one that is undefined or failed")));
    return state->failedTensor();
  }
  if (!detail::isKnown(device)) {
    state->fail(DiagId::FakeDevice, here,
                "'" + name + "' is to be on " + device.str() +
                    ", which is no device");
    return state->failedTensor();
  }
  TensorMeta copy = from->meta;
  copy.device = detail::internal(device);
  bool grad = from->requiresGrad;
  Tensor made = state->addArgument(TensorKind::Input, name, std::move(copy),
                                   state->addStorage(), here);
  if (detail::TraceTensor *tensor = TraceState::tensorOf(made))
    tensor->requiresGrad = grad;
  return made;
}

Tensor FakeMode::fake(const RealTensor &real, const std::string &name,
                      TensorKind kind, Here here) {
  return state->fake(real, name, kind, here);
}

void FakeMode::output(const std::string &name, const Tensor &tensor,
                      Here here) {
  auto refuse = [&](const std::string &why, const char *help = "") {
    state->fail(DiagId::TraceMisuse, here, "the output '" + name + "' " + why,
                help);
  };
  if (TraceState::traceOf(tensor) != state.get())
    return refuse("is not a tensor of the mode '" + this->name() + "'");
  const detail::TraceTensor *known = TraceState::tensorOf(tensor);
  if (!known) // the error is known already
    return;
  // The model returns what its function made.
  const char *help = "return the tensor from the region, and name the result "
                     "of the cond, while_loop or scan";
  if (!state->regions.empty())
    return refuse("is named inside of a branch or loop", help);
  if (known->region)
    return refuse("was made inside of a branch or loop that is over", help);
  if (!state->outputNames.insert(name).second)
    return refuse("was named before: names of outputs are unique");
  state->outputs.push_back({name, TraceState::idOf(tensor)});
}

void FakeMode::newEpoch() { ++state->epoch; }

//===----------------------------------------------------------------------===//
// Custom operators
//===----------------------------------------------------------------------===//

static bool report(TraceState &state, llvm::Error error, const Here &here) {
  if (!error)
    return true;
  for (const Diagnostic &d : takeDiagnostics(std::move(error)))
    state.fail(d.id, here, d.message, d.help);
  return false;
}

bool FakeMode::loadPlugin(const std::string &path, bool learn, Here here) {
  llvm::Expected<Plugin> plugin =
      Plugin::load(path, CustomOps::of(state->context.get()),
                   "foretrace " FORETRACE_VERSION, learn);
  if (!plugin)
    return report(*state, plugin.takeError(), here);
  state->plugins->push_back(std::move(*plugin));
  return true;
}

bool FakeMode::registerOp(const ft_op_registration &op, bool learn, Here here) {
  RegistrationSource source;
  source.learn = learn;
  return report(
      *state, registerCustomOp(CustomOps::of(state->context.get()), op, source),
      here);
}

//===----------------------------------------------------------------------===//
// Questions
//===----------------------------------------------------------------------===//

bool FakeMode::ok() const { return state->errors == 0; }
const Diagnostic &FakeMode::error() const { return state->error; }
size_t FakeMode::errorCount() const { return state->errors; }
const std::string &FakeMode::name() const { return state->options.name; }
size_t FakeMode::numOperations() const { return state->operations; }

int64_t FakeMode::numParameterElements() const {
  llvm::DenseSet<uint32_t> seen;
  int64_t total = 0;
  for (const detail::TraceArgument &argument : state->arguments) {
    const detail::TraceTensor &tensor = state->tensors[argument.tensor];
    if (argument.kind == TensorKind::Parameter &&
        seen.insert(tensor.storage).second)
      total += tensor.meta.numel().value();
  }
  return total;
}

std::string FakeMode::print() {
  std::string text;
  llvm::raw_string_ostream os(text);
  state->finish().print(os);
  os << '\n';
  return text;
}

} // namespace ft
