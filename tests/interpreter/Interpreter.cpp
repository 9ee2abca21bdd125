//===- Interpreter.cpp - Evaluates ATen calls with plain loops ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tests/interpreter/Interpreter.h"

#include "dialects/ft/AtenCall.h"
#include "tests/interpreter/Families.h"

#include "llvm/ADT/DenseMap.h"

using namespace ft;
using namespace ft::interpreter;

Call::Call(const Schema &schema, llvm::ArrayRef<Arg> args,
           llvm::ArrayRef<Tensor> operands, llvm::ArrayRef<TensorMeta> metas)
    : schema(schema), args(args), operands(operands) {
  for (const TensorMeta &meta : metas) {
    Shape shape;
    for (Dim size : meta.sizes)
      shape.push_back(size.value());
    results.emplace_back(meta.dtype, shape);
  }
}

std::vector<const Tensor *> Call::tensors(unsigned i) const {
  std::vector<const Tensor *> list;
  for (const Arg &arg : args[i].list)
    list.push_back(arg.kind == Arg::Tensor ? &operands[arg.operand] : nullptr);
  return list;
}

static int64_t integerOf(const Arg &arg) {
  switch (arg.kind) {
  case Arg::Int:
    return arg.dim.value();
  case Arg::Bool:
    return arg.boolean;
  default:
    return static_cast<int64_t>(arg.real);
  }
}

int64_t Call::integer(unsigned i) const { return integerOf(args[i]); }

Shape Call::integers(unsigned i, size_t length) const {
  Shape values;
  if (args[i].kind == Arg::List)
    for (const Arg &arg : args[i].list)
      values.push_back(integerOf(arg));
  else if (has(i))
    values.push_back(integer(i));
  if (values.size() == 1 && length > 1)
    values.resize(length, values[0]);
  return values;
}

double Call::number(unsigned i) const {
  const Arg &arg = args[i];
  return arg.kind == Arg::Float || arg.kind == Arg::Complex
             ? arg.real
             : static_cast<double>(integerOf(arg));
}

Complex Call::complex(unsigned i) const {
  return {number(i), args[i].kind == Arg::Complex ? args[i].imag : 0};
}

int64_t Call::dim(unsigned i, int64_t rank) const {
  int64_t d = integer(i);
  return d < 0 ? d + std::max<int64_t>(rank, 1) : d;
}

std::vector<bool> Call::dims(unsigned i, int64_t rank, bool emptyIsAll) const {
  std::vector<bool> chosen(rank, false);
  Shape list = integers(i);
  if (list.empty() && emptyIsAll)
    chosen.assign(rank, true);
  for (int64_t d : list)
    if (rank)
      chosen[d < 0 ? d + rank : d] = true;
  return chosen;
}

llvm::ArrayRef<OpRow> ft::interpreter::allOps() {
  static const std::vector<OpRow> rows = [] {
    std::vector<OpRow> all;
#define FT_INTERPRETER_FAMILY(name)                                            \
  all.insert(all.end(), name##Ops().begin(), name##Ops().end());
#include "tests/interpreter/Families.def"
    return all;
  }();
  return rows;
}

static const OpRow *findName(llvm::StringRef name) {
  static const llvm::StringMap<const OpRow *> byName = [] {
    llvm::StringMap<const OpRow *> map;
    for (const OpRow &row : allOps())
      map[row.name] = &row;
    return map;
  }();
  auto found = byName.find(name);
  return found == byName.end() ? nullptr : found->second;
}

const OpRow *ft::interpreter::findOp(const Schema &schema) {
  if (const OpRow *row = findName(schema.name))
    return row;
  llvm::StringRef base = schema.base;
  if (schema.mutates && base.consume_back("_"))
    return findName((base + "." + schema.overload).str());
  return nullptr;
}

OpClass ft::interpreter::classOf(const Schema &schema, llvm::ArrayRef<Arg> args,
                                 llvm::ArrayRef<DType> operands) {
  OpClass opClass = findOp(schema)->opClass;
  bool elementwise =
      schema.family == "pointwise" || schema.base.starts_with("_foreach_");
  bool inexact = elementwise && llvm::any_of(operands, isComplex);
  if (int alpha = schema.argIndex("alpha"); alpha >= 0)
    inexact |= !(args[alpha].kind == Arg::Int && args[alpha].dim.is(1));
  return inexact ? std::max(opClass, OpClass::Elementary) : opClass;
}

CallResult ft::interpreter::evaluate(const Schema &schema,
                                     llvm::ArrayRef<Arg> args,
                                     llvm::ArrayRef<Tensor> operands,
                                     llvm::ArrayRef<TensorMeta> metas) {
  CallResult result;
  const OpRow *row = findOp(schema);
  if (!row) {
    result.error = "the interpreter does not know " + schema.name.str();
    return result;
  }
  Call call(schema, args, operands, metas);
  Tensor::strayed = Tensor::narrowed = Tensor::overflowed = false;
  row->function(call);
  if (Tensor::strayed)
    call.refuse("an access outside of a tensor");
  if (Tensor::narrowed)
    call.open("a function of real numbers of complex ones");
  if (Tensor::overflowed)
    call.open("a float that no integer of the dtype holds");
  result.results = std::move(call.results);
  result.error = std::move(call.error);
  result.unspecified = std::move(call.unspecified);
  result.left = std::move(call.left);
  return result;
}

llvm::Expected<std::vector<Tensor>>
ft::interpreter::evaluate(mlir::func::FuncOp forward,
                          llvm::ArrayRef<Tensor> inputs) {
  auto failed = [](mlir::Operation &op, const llvm::Twine &why) {
    return llvm::createStringError(op.getName().getStringRef() + ": " + why);
  };
  llvm::DenseMap<mlir::Value, Tensor> values;
  for (auto [argument, input] : llvm::zip(forward.getArguments(), inputs))
    values[argument] = input;
  std::vector<Tensor> outputs;
  for (mlir::Operation &op : forward.front()) {
    if (op.hasTrait<mlir::OpTrait::IsTerminator>()) {
      for (mlir::Value value : op.getOperands())
        outputs.push_back(values[value]);
      break;
    }
    if (!schemaOf(&op))
      return failed(op, "no call");
    AtenCall call = AtenCall::decode(&op);
    std::vector<Tensor> operands;
    for (mlir::Value value : call.operands)
      operands.push_back(values[value]);
    std::vector<TensorMeta> metas;
    for (mlir::Value value : op.getResults()) {
      std::optional<TensorMeta> meta = metaOf(value);
      if (!meta)
        return failed(op, "a result that is no annotated tensor");
      metas.push_back(*meta);
    }
    CallResult result = evaluate(*call.schema, call.args, operands, metas);
    if (!result.error.empty())
      return failed(op, result.error);
    for (auto [value, tensor] : llvm::zip(op.getResults(), result.results))
      values[value] = std::move(tensor);
  }
  return outputs;
}
