//===- FtDialect.cpp - The ft dialect, its attributes and types *- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "dialects/ft/FtDialect.h"

#include "dialects/ft/CustomOps.h"
#include "dialects/ft/FtDialect.cpp.inc"
#include "dialects/ft/FtInliner.h"
#include "dialects/ft/OpFamilies.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"

#include "llvm/ADT/TypeSwitch.h"

namespace ft {

void FtDialect::initialize() {
  addInterfaces<CustomOps>();
  registerFtAttributes();
  registerFtTypes();
  registerFtOps();
#define FT_OP_FAMILY(name) registerFt##name(*this);
#include "dialects/ft/OpFamilies.def"
  addFtInliner(*this);
  for (mlir::RegisteredOperationName name :
       getContext()->getRegisteredOperationsByDialect("ft"))
    if (const Schema *schema = SchemaTable::get().findMnemonic(
            name.getStringRef().drop_front(strlen("ft."))))
      schemas[name] = schema;
}

const Schema *FtDialect::schemaOf(mlir::OperationName name) const {
  return schemas.lookup(name);
}

const Schema *schemaOf(mlir::Operation *op) {
  auto *dialect = llvm::dyn_cast_or_null<FtDialect>(op->getDialect());
  if (!dialect)
    return nullptr;
  if (const Schema *schema = dialect->schemaOf(op->getName()))
    return schema;
  auto callee = op->getAttrOfType<mlir::StringAttr>("callee");
  if (!callee)
    return nullptr;
  if (op->getName().getStringRef() == "ft.aten")
    return SchemaTable::get().find(callee.getValue());
  if (op->getName().getStringRef() == "ft.custom")
    if (const CustomOp *custom =
            dialect->getRegisteredInterface<CustomOps>()->find(
                callee.getValue()))
      return &custom->schema;
  return nullptr;
}

mlir::Type unknownTensorType(mlir::MLIRContext *context) {
  return mlir::UnrankedTensorType::get(UnknownType::get(context));
}

} // namespace ft
