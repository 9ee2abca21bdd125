//===- Copy.cpp - Lowering of copies and conversions -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Layouts are the business of the boundary; inside, a copy is its operand. The
// copying forms of views are in View.cpp.

#include "compiler/lower/Gather.h"
#include "compiler/lower/Rules.h"

using namespace mlir;

namespace ft {

/// The same elements, converted to the result's dtype if that differs.
static LogicalResult same(LowerCall &c) {
  c.setResult(0, c.cast(c.operand(0), c.resultMeta(0).dtype));
  return success();
}

/// What is written over self: broadcast to its sizes, in its dtype.
static LogicalResult copied(LowerCall &c) {
  const TensorMeta &meta = c.resultMeta(0);
  c.setResult(0, c.cast(c.expand(c.operand(1), staticSizes(meta)), meta.dtype));
  return success();
}

static LogicalResult zeros(LowerCall &c) {
  const TensorMeta &meta = c.resultMeta(0);
  c.setResult(0, c.filled(staticSizes(meta), meta.dtype, 0));
  return success();
}

static LogicalResult fillScalar(LowerCall &c) {
  const TensorMeta &meta = c.resultMeta(0);
  const Arg &value = c.call().args[1];
  if (value.kind == Arg::Complex)
    return c.unsupported("a complex fill value");
  if (value.kind == Arg::Int)
    c.setResult(0,
                c.filledInt(staticSizes(meta), meta.dtype, value.dim.value()));
  else
    c.setResult(0, c.filled(staticSizes(meta), meta.dtype, c.number(1)));
  return success();
}

static const LowerRuleRow kRows[] = {
    {"clone.default", same},       {"contiguous.default", same},
    {"cpu.default", same},         {"lift_fresh_copy.default", same},
    {"to.device", same},           {"to.dtype", same},
    {"to.dtype_layout", same},     {"to.other", same},
    {"to.prim_Device", same},      {"to.prim_dtype", same},
    {"to.prim_other", same},       {"type_as.default", same},
    {"_to_copy.default", same},    {"_cast_Double.default", same},
    {"_cast_Float.default", same}, {"_cast_Half.default", same},
    {"_cast_Int.default", same},   {"_cast_Long.default", same},
    {"copy.default", copied},      {"fill.Scalar", fillScalar},
    {"fill.Tensor", copied},       {"zero.default", zeros},
    {"_cast_Byte.default", same},  {"_cast_Char.default", same},
    {"_cast_Short.default", same}, {"_lazy_clone.default", same},
    {"to_dense.default", same},    {"chalf.default", same},
};

ArrayRef<LowerRuleRow> copyLowerRules() { return kRows; }

} // namespace ft
