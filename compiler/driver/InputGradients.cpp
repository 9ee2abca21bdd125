//===- InputGradients.cpp - Inputs whose gradient is asked for -*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/driver/InputGradients.h"

#include "compiler/autograd/Activity.h"
#include "compiler/support/Diagnostics.h"
#include "dialects/ft/FtDialect.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include "llvm/ADT/StringSet.h"

namespace ft {

llvm::Error askForGradients(mlir::ModuleOp module,
                            llvm::ArrayRef<std::string> names) {
  auto function = module.lookupSymbol<mlir::func::FuncOp>("forward");
  for (const std::string &name : names) {
    std::string others;
    bool found = false;
    for (unsigned n = 0; function && n < function.getNumArguments(); ++n) {
      auto kind =
          function.getArgAttrOfType<mlir::StringAttr>(n, ft::names::kKind);
      auto target =
          function.getArgAttrOfType<mlir::StringAttr>(n, ft::names::kTarget);
      if (!kind || !target || kind.getValue() != "input" ||
          !isDifferentiable(function.getArgument(n)))
        continue;
      others += (others.empty() ? "" : ", ") + target.str();
      if (target.getValue() != name)
        continue;
      found = true;
      function.setArgAttr(n, ft::names::kRequiresGrad,
                          mlir::UnitAttr::get(module.getContext()));
    }
    if (!found)
      return makeError(
          DiagId::BadCommandLine, "",
          "no input of floating-point numbers is called '" + name + "'",
          others.empty() ? "there is none" : "there are " + others);
  }
  return llvm::Error::success();
}

llvm::Error checkGradientsAsked(mlir::ModuleOp module,
                                llvm::ArrayRef<std::string> names) {
  auto function = module.lookupSymbol<mlir::func::FuncOp>("forward");
  llvm::StringSet<> given;
  for (unsigned r = 0; function && r < function.getNumResults(); ++r) {
    auto role =
        function.getResultAttrOfType<mlir::StringAttr>(r, ft::names::kRole);
    auto target =
        function.getResultAttrOfType<mlir::StringAttr>(r, ft::names::kTarget);
    if (role && target && role.getValue() == "gradient")
      given.insert(target.getValue());
  }
  for (const std::string &name : names)
    if (!given.contains(name))
      return makeError(DiagId::NoGradient, "",
                       "no output of the model depends on the input '" + name +
                           "', whose gradient is asked for");
  return llvm::Error::success();
}

} // namespace ft
