//===- Repropagate.cpp - Annotates a graph for other inputs ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/fake/Repropagate.h"

#include "compiler/fake/FakeReport.h"
#include "compiler/fake/ModuleScope.h"
#include "compiler/fake/Propagator.h"
#include "dialects/ft/FtDialect.h"

using namespace mlir;

namespace ft {

namespace {
/// The types of all values of a function, to put back.
class SavedTypes {
public:
  explicit SavedTypes(func::FuncOp function)
      : function(function), signature(function.getFunctionType()) {
    each([&](Value value) { types.emplace_back(value, value.getType()); });
  }
  /// Calls `visit` for every value of the function.
  void each(llvm::function_ref<void(Value)> visit) {
    function->walk([&](Operation *op) {
      for (Value result : op->getResults())
        visit(result);
      for (Region &region : op->getRegions())
        for (Block &block : region)
          for (Value argument : block.getArguments())
            visit(argument);
    });
  }
  void restore() {
    for (auto [value, type] : types)
      value.setType(type);
    function.setFunctionType(signature);
  }

private:
  func::FuncOp function;
  FunctionType signature;
  std::vector<std::pair<Value, Type>> types;
};
} // namespace

static StringRef nameOf(func::FuncOp function, unsigned argument,
                        StringRef attribute) {
  auto name = function.getArgAttrOfType<StringAttr>(argument, attribute);
  return name ? name.getValue() : StringRef();
}

/// By the name in the model, then by the archive's; null if there is none.
static BlockArgument findArgument(func::FuncOp function, StringRef name) {
  for (StringRef attribute : {names::kTarget, names::kName})
    for (BlockArgument argument : function.getArguments())
      if (nameOf(function, argument.getArgNumber(), attribute) == name)
        return argument;
  return {};
}

/// The names of the inputs, for messages.
static std::string inputNames(func::FuncOp function) {
  std::string all;
  for (BlockArgument argument : function.getArguments()) {
    unsigned i = argument.getArgNumber();
    StringRef kind = nameOf(function, i, names::kKind);
    StringRef name = nameOf(function, i, names::kTarget);
    if (!name.empty() && (kind.empty() || kind == "input"))
      all += (all.empty() ? "" : ", ") + name.str();
  }
  return all;
}

static LogicalResult setInput(func::FuncOp function, const FakeInput &input,
                              Propagator &walk) {
  BlockArgument argument = findArgument(function, input.name);
  if (!argument)
    return emitError(function.getLoc())
           << "[FT0107] @forward has no argument '" << input.name
           << "'; its inputs are " << inputNames(function);
  bool isTensor = isa<TensorType>(argument.getType());
  if (isTensor != input.meta.has_value() ||
      isTensor == input.number.has_value())
    return emitError(function.getLoc())
           << "[FT0107] '" << input.name << "' is "
           << (isTensor ? "a tensor" : "a number") << ", what was given is "
           << (input.meta     ? "a tensor"
               : input.number ? "a number"
                              : "not fake");
  if (input.meta) {
    argument.setType(typeFromMeta(function.getContext(), *input.meta));
    walk.replaceInput(argument);
  } else {
    walk.setNumber(argument, *input.number);
  }
  return success();
}

FailureOr<Propagated> propagate(ModuleOp module, ArrayRef<FakeInput> inputs,
                                const PropagateOptions &options) {
  auto function = module.lookupSymbol<func::FuncOp>("forward");
  if (!function || function.isExternal())
    return emitError(module.getLoc())
           << "[FT0107] the module has no function @forward";
  SavedTypes saved(function);
  FakeCache own;
  Propagator walk(Propagator::Mode::Annotate,
                  options.cache ? options.cache : &own);
  walk.ignoreClaims();
  LogicalResult done = success();
  for (const FakeInput &input : inputs)
    if (failed(setInput(function, input, walk)))
      done = failure();
  // Behind the inputs: their symbols are known to the module.
  ModuleScope scope(module, function, ModuleScope::Use::Remake);
  walk.setScope(&scope.scope());
  if (succeeded(done))
    done = walk.run(function);
  if (walk.missesRules())
    reportMissingRules(module);
  if (failed(done)) {
    walk.removeInserted();
    saved.restore();
    return failure();
  }
  if (!options.restore)
    scope.bind(module);
  Propagated answer;
  llvm::append_range(answer.results, function.getFunctionType().getResults());
  if (options.restore) {
    saved.each([&](Value v) { answer.types[v] = v.getType(); });
    for (Operation *op : walk.insertedOps())
      answer.types.erase(op->getResult(0));
    walk.removeInserted();
    saved.restore();
  }
  return answer;
}

} // namespace ft
