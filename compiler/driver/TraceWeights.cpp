//===- TraceWeights.cpp - Weights of a traced model ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/driver/TraceWeights.h"

#include "compiler/support/Diagnostics.h"
#include "compiler/trace/TraceState.h"

namespace ft {

namespace {
class TraceWeights : public WeightSource {
public:
  explicit TraceWeights(std::shared_ptr<detail::TraceState> source)
      : trace(std::move(source)) {}

  llvm::Expected<llvm::ArrayRef<uint8_t>> record(llvm::StringRef name,
                                                 uint64_t bytes) override {
    std::string why;
    llvm::ArrayRef<uint8_t> data = trace->record(name, why);
    if (why.empty() && data.size() < bytes)
      why = "the data of " + name.str() + " have fewer bytes than its tensors";
    if (!why.empty())
      return makeError(DiagId::BadWeights, trace->options.name, why,
                       "give the model a tensor with data (FakeMode::fake), "
                       "and keep it until the model is compiled");
    return data.take_front(bytes);
  }

private:
  std::shared_ptr<detail::TraceState> trace;
};
} // namespace

std::unique_ptr<WeightSource>
makeTraceWeights(std::shared_ptr<detail::TraceState> trace) {
  return std::make_unique<TraceWeights>(std::move(trace));
}

} // namespace ft
