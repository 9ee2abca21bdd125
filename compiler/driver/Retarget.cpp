//===- Retarget.cpp - Moves a model to another device ---------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/driver/Retarget.h"

#include "dialects/ft/FtDialect.h"

#include "mlir/IR/AttrTypeSubElements.h"

using namespace mlir;

namespace ft {

bool moveModule(ModuleOp module, Device device) {
  bool moved = false;
  AttrTypeReplacer replacer;
  replacer.addReplacement([&](MetaAttr meta) -> std::optional<Attribute> {
    if (meta.getDevice() == device)
      return std::nullopt;
    moved = true;
    return MetaAttr::get(meta.getContext(), meta.getSizes(), meta.getStrides(),
                         meta.getOffset(), device, meta.getConj(),
                         meta.getNeg());
  });
  replacer.addReplacement([&](DeviceAttr named) -> std::optional<Attribute> {
    if (named.getDevice() == device)
      return std::nullopt;
    moved = true;
    return DeviceAttr::get(named.getContext(), device);
  });
  replacer.recursivelyReplaceElementsIn(module, /*replaceAttrs=*/true,
                                        /*replaceLocs=*/false,
                                        /*replaceTypes=*/true);
  return moved;
}

} // namespace ft
