//===- LowerCall.cpp - One ATen call on its way to linalg ------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/lower/LowerCall.h"

#include "compiler/lower/LowerState.h"
#include "dialects/ft/CustomOps.h"
#include "dialects/ft/FtOps.h"
#include "dialects/ft/Places.h"
#include "dialects/ft/TensorSizes.h"

#include "mlir/Dialect/Linalg/IR/Linalg.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"

#include <limits>

using namespace mlir;

namespace ft {

//===----------------------------------------------------------------------===//
// LoweredTensor
//===----------------------------------------------------------------------===//

bool LoweredTensor::isRowMajor() const {
  for (unsigned p = 0; p < order.size(); ++p)
    if (order[p] != p)
      return false;
  return true;
}

SmallVector<int64_t, 6> LoweredTensor::sizes() const {
  ArrayRef<int64_t> physical =
      cast<RankedTensorType>(value.getType()).getShape();
  SmallVector<int64_t, 6> logical(order.size());
  for (size_t p = 0; p < order.size(); ++p)
    logical[order[p]] = physical[p];
  return logical;
}

Dims LoweredTensor::dims() const {
  if (!symbolic.empty())
    return symbolic;
  SmallVector<int64_t, 6> numbers = sizes();
  return Dims(numbers.begin(), numbers.end());
}

void LoweredTensor::setDims(ArrayRef<Dim> dims) {
  bool isKnown = llvm::all_of(dims, [](Dim d) { return d.isStatic(); });
  symbolic = isKnown ? Dims() : Dims(dims.begin(), dims.end());
}

AffineMap LoweredTensor::map(unsigned iterationDims,
                             ArrayRef<AffineExpr> index) const {
  SmallVector<AffineExpr> physical;
  for (unsigned logical : order)
    physical.push_back(index[logical]);
  return AffineMap::get(iterationDims, 0, physical, value.getContext());
}

//===----------------------------------------------------------------------===//
// Arguments and results
//===----------------------------------------------------------------------===//

/// The annotation of a tensor; a number is a 0-dim tensor here.
static TensorMeta loweredMeta(Value v) {
  if (std::optional<TensorMeta> meta = metaOf(v))
    return *meta;
  Type type = v.getType();
  DType dtype = type.isInteger(1)     ? DType::Bool
                : type.isIntOrIndex() ? DType::I64
                                      : DType::F64;
  return TensorMeta::contiguous(dtype, {});
}

LowerCall::LowerCall(LowerState &state, Operation *op, OpBuilder &builder)
    : state(state), op(op), b(builder), location(op->getLoc()),
      decoded(AtenCall::decode(op)) {
  for (Value v : op->getOperands())
    operandMetas.push_back(state.known(metaOf(v).value_or(TensorMeta())));
  for (Value v : op->getResults())
    resultMetas.push_back(state.known(loweredMeta(v)));
}

DType dtypeOfNumber(Arg::Kind kind) {
  return kind == Arg::Int     ? DType::I64
         : kind == Arg::Float ? DType::F64
                              : DType::Bool;
}

const TensorMeta &LowerCall::meta(unsigned arg) const {
  return operandMetas[decoded.args[arg].operand];
}

LoweredTensor LowerCall::operandOf(Value ftValue) {
  auto it = state.values.find(ftValue);
  if (it == state.values.end() && !ftValue)
    return {};
  if (it != state.values.end()) {
    LoweredTensor known = it->second;
    return state.device ? broughtHere(state, *this, known) : known;
  }
  // A number that follows from sizes.
  std::optional<Dim> number = state.numberOf(ftValue);
  if (!number)
    return {};
  return sizeTensor(*number,
                    ftValue.getType().isInteger(1) ? DType::Bool : DType::I64);
}

LoweredTensor LowerCall::sizeTensor(Dim size, DType dtype) {
  ScalarBuilder s(b, location);
  LoweredTensor t = empty({}, dtype);
  Value scalar =
      arith::IndexCastOp::create(b, location, b.getI64Type(), sizeValue(size));
  t.value = linalg::FillOp::create(b, location, scalar, t.value).getResult(0);
  return t;
}

bool LowerCall::isDefined(const TensorMeta &meta) const {
  return llvm::all_of(meta.sizes, [&](Dim d) { return state.isDefined(d); });
}

void LowerCall::resolveNumbers() {
  auto resolve = [&](Arg &arg) {
    if (!ft::isRuntimeNumber(arg))
      return;
    std::optional<Dim> number = state.numberOf(decoded.operands[arg.operand]);
    if (!number || !state.isDefined(*number))
      return;
    arg.dim = *number;
    arg.operand = -1;
  };
  for (Arg &arg : decoded.args) {
    resolve(arg);
    for (Arg &item : arg.list)
      resolve(item);
  }
}

LoweredTensor LowerCall::operand(unsigned arg) {
  const Arg &given = decoded.args[arg];
  int operand = given.operand;
  if (operand < 0 && given.kind == Arg::Int && !given.dim.isStatic())
    return sizeTensor(given.dim, DType::I64);
  return operandOf(operand >= 0 ? decoded.operands[operand] : Value());
}

LoweredTensor LowerCall::rowMajor(unsigned arg) {
  return toRowMajor(operand(arg));
}

unsigned LowerCall::wrapDim(int64_t dim, unsigned rank) {
  if (rank == 0)
    return 0;
  return static_cast<unsigned>(dim < 0 ? dim + rank : dim);
}

void LowerCall::setResult(unsigned r, LoweredTensor tensor) {
  state.values[op->getResult(r)] = std::move(tensor);
}

LogicalResult LowerCall::unsupported(const Twine &why) {
  state.reason = why.str();
  return failure();
}

void LowerCall::newGroup() {
  state.closeGroup(decoded.schema ? decoded.schema->base : "copy");
}

int64_t LowerCall::panelWidth(DType dtype) const {
  return state.panelWidth(dtype, resultMetas.empty() ? Device()
                                                     : resultMetas[0].device);
}

//===----------------------------------------------------------------------===//
// Constants
//===----------------------------------------------------------------------===//

bool LowerCall::isConstant(Value ftValue) const {
  return static_cast<bool>(state.constantRoot(ftValue));
}

std::optional<LoweredTensor>
LowerCall::packed(Value ftValue, ArrayRef<int64_t> dims,
                  ArrayRef<SmallVector<int64_t>> coef, ArrayRef<int64_t> base) {
  BlockArgument root = state.constantRoot(ftValue);
  if (!root)
    return std::nullopt;
  SmallVector<Attribute> rows;
  for (const SmallVector<int64_t> &row : coef)
    rows.push_back(b.getDenseI64ArrayAttr(row));
  return state.packedArgument(root, cast<RankedTensorType>(ftValue.getType()),
                              dims, b.getArrayAttr(rows), base);
}

Dims LowerCall::dimsArg(unsigned arg, unsigned count, int64_t absent) const {
  Dims list = dimsArg(arg);
  if (list.size() < 2)
    list.assign(count, list.empty() ? Dim(absent) : list[0]);
  return list;
}

SmallVector<int64_t, 6> LowerCall::integers(unsigned arg, unsigned count,
                                            int64_t absent) const {
  SmallVector<int64_t, 6> list = integers(arg);
  if (list.size() < 2)
    list.assign(count, list.empty() ? absent : list[0]);
  return list;
}

//===----------------------------------------------------------------------===//
// Building
//===----------------------------------------------------------------------===//

SmallVector<unsigned, 6> identityOrder(size_t rank) {
  SmallVector<unsigned, 6> order(rank);
  std::iota(order.begin(), order.end(), 0U);
  return order;
}

/// The logical sizes for LoweredTensor::symbolic.
static Dims symbolicOrNone(ArrayRef<Dim> sizes) {
  return llvm::all_of(sizes, [](Dim d) { return d.isStatic(); })
             ? Dims()
             : Dims(sizes.begin(), sizes.end());
}

Value LowerCall::sizeValue(Dim size) { return state.sizeValue(size); }

bool LowerCall::surelySame(Dim a, Dim b) {
  if (a == b || (a.isStatic() && b.isStatic()))
    return a == b;
  SymContext &symbols = (a.isStatic() ? b : a).symbolic().context();
  return state.facts().query(symbols.eq(a.toExpr(symbols),
                                        b.toExpr(symbols))) == Answer::Proved;
}

bool LowerCall::surelyPositive(Dim size) {
  if (size.isStatic())
    return size.value() > 0;
  SymContext &symbols = size.symbolic().context();
  return state.facts().query(symbols.ge(size.symbolic(),
                                        symbols.constant(1))) == Answer::Proved;
}

OpFoldResult LowerCall::sizeOperand(Dim size) {
  return state.sizeOperand(size);
}

Value LowerCall::sizeIn(ScalarBuilder &s, Dim size, DType dtype) {
  if (size.isStatic()) {
    Type type = computeType(context(), dtype);
    return isa<IntegerType>(type)
               ? s.constantInt(type, size.value())
               : s.constant(type, static_cast<double>(size.value()));
  }
  Value wide =
      arith::IndexCastOp::create(s.b, s.loc, s.b.getI64Type(), sizeValue(size));
  return s.cast(wide, DType::I64, dtype);
}

LoweredTensor LowerCall::empty(const SizeList &sizes, DType dtype,
                               ArrayRef<unsigned> order) {
  LoweredTensor t;
  t.dtype = dtype;
  t.order = order.empty() ? identityOrder(sizes.size())
                          : SmallVector<unsigned, 6>(order);
  t.symbolic = symbolicOrNone(sizes);
  SmallVector<OpFoldResult> physical;
  for (unsigned logical : t.order)
    physical.push_back(state.sizeOperand(sizes[logical]));
  t.value = tensor::EmptyOp::create(b, location, physical,
                                    storageType(context(), dtype));
  return t;
}

static LoweredTensor fill(OpBuilder &b, Location loc, LoweredTensor t,
                          Value scalar) {
  t.value = linalg::FillOp::create(b, loc, scalar, t.value).getResult(0);
  return t;
}

LoweredTensor LowerCall::filled(const SizeList &sizes, DType dtype,
                                double number) {
  ScalarBuilder s(b, location);
  Type type = storageType(context(), dtype);
  if (dtype == DType::Bool)
    number = number != 0;
  return fill(b, location, empty(sizes, dtype), s.constant(type, number));
}

LoweredTensor LowerCall::filledInt(const SizeList &sizes, DType dtype,
                                   int64_t number) {
  ScalarBuilder s(b, location);
  Type type = storageType(context(), dtype);
  if (dtype == DType::Bool)
    number = number != 0;
  Value scalar = isa<IntegerType>(type)
                     ? s.constantInt(type, number)
                     : s.constant(type, static_cast<double>(number));
  return fill(b, location, empty(sizes, dtype), scalar);
}

SmallVector<LoweredTensor> LowerCall::generic(ArrayRef<Access> ins,
                                              ArrayRef<Access> outs,
                                              ArrayRef<Iterator> iterators,
                                              ScalarsBody body) {
  // Nothing to compute: the initial values are the results.
  if (llvm::all_of(outs, [](const Access &a) {
        return hasNoElements(a.tensor.dims());
      })) {
    SmallVector<LoweredTensor> results;
    for (const Access &a : outs)
      results.push_back(a.tensor);
    return results;
  }
  auto dims = static_cast<unsigned>(iterators.size());
  SmallVector<Value> inputs, inits;
  SmallVector<AffineMap> maps;
  SmallVector<Type> types;
  SmallVector<DType> dtypes;
  for (const Access &a : ins) {
    inputs.push_back(a.tensor.value);
    maps.push_back(a.tensor.map(dims, a.index));
    dtypes.push_back(a.tensor.dtype);
  }
  for (const Access &a : outs) {
    inits.push_back(a.tensor.value);
    maps.push_back(a.tensor.map(dims, a.index));
    types.push_back(a.tensor.value.getType());
    dtypes.push_back(a.tensor.dtype);
  }
  SmallVector<utils::IteratorType> kinds;
  for (Iterator i : iterators)
    kinds.push_back(i == Iterator::Parallel ? utils::IteratorType::parallel
                                            : utils::IteratorType::reduction);
  auto op = linalg::GenericOp::create(
      b, location, types, inputs, inits, maps, kinds,
      [&](OpBuilder &inner, Location loc, ValueRange args) {
        ScalarBuilder s(inner, loc);
        SmallVector<Value> computed;
        for (auto [arg, dtype] : llvm::zip(args, dtypes)) {
          Value v = arg;
          if (dtype == DType::Bool)
            v = s.cmp(ScalarBuilder::Cmp::Ne, v, s.zero(v));
          computed.push_back(v);
        }
        SmallVector<Value> yielded = body(s, computed);
        for (Value &v : yielded)
          if (v.getType().isInteger(1))
            v = arith::ExtUIOp::create(inner, loc, inner.getI8Type(), v);
        linalg::YieldOp::create(inner, loc, yielded);
      });
  SmallVector<LoweredTensor> results;
  for (auto [a, value] : llvm::zip(outs, op.getResults())) {
    LoweredTensor t = a.tensor;
    t.value = value;
    results.push_back(t);
  }
  return results;
}

LoweredTensor LowerCall::pointwise(ArrayRef<LoweredTensor> ins,
                                   const SizeList &sizes, DType dtype,
                                   ScalarBody body) {
  size_t rank = sizes.size();
  SmallVector<unsigned, 6> order = identityOrder(rank);
  for (const LoweredTensor &t : ins) {
    if (t.rank() == rank && !t.isRowMajor() &&
        ArrayRef<Dim>(t.dims()) == ArrayRef<Dim>(sizes)) {
      order = t.order;
      break;
    }
  }
  // Iteration dim p runs over physical dim p of the result.
  SmallVector<AffineExpr, 6> logical(rank);
  for (size_t p = 0; p < rank; ++p)
    logical[order[p]] = dim(static_cast<unsigned>(p));
  SmallVector<Access> inputs;
  for (const LoweredTensor &t : ins) {
    Access a{t, {}};
    Dims own = t.dims();
    size_t lead = rank - own.size();
    for (size_t j = 0; j < own.size(); ++j)
      a.index.push_back(own[j].is(1) && !sizes[lead + j].is(1)
                            ? constant(0)
                            : logical[lead + j]);
    inputs.push_back(std::move(a));
  }
  Access out{empty(sizes, dtype, order), logical};
  SmallVector<Iterator> iterators(rank, Iterator::Parallel);
  return generic(inputs, out, iterators, [&](ScalarBuilder &s, ValueRange v) {
    return SmallVector<Value>{body(s, v.take_front(ins.size()))};
  })[0];
}

LoweredTensor LowerCall::pointwise(ArrayRef<LoweredTensor> ins,
                                   const TensorMeta &result, ScalarBody body) {
  return pointwise(ins, result.sizes, result.dtype, body);
}

LoweredTensor LowerCall::cast(LoweredTensor t, DType dtype) {
  if (t.dtype == dtype)
    return t;
  DType from = t.dtype;
  return pointwise(t, t.dims(), dtype, [&](ScalarBuilder &s, ValueRange v) {
    return s.cast(v[0], from, dtype);
  });
}

LoweredTensor inMemoryOrder(LoweredTensor t) {
  Dims logical = t.dims(), physical;
  for (unsigned d : t.order)
    physical.push_back(logical[d]);
  t.symbolic = symbolicOrNone(physical);
  t.order = identityOrder(t.order.size());
  return t;
}

LoweredTensor LowerCall::reduce(
    LoweredTensor in, ArrayRef<unsigned> dims, bool keepDim, DType accumulate,
    double init,
    llvm::function_ref<Value(ScalarBuilder &, Value, Value)> combine) {
  Dims sizes = in.dims();
  size_t rank = sizes.size();
  SmallVector<bool> reduced(rank, false);
  for (unsigned d : dims)
    reduced[d] = true;
  // Parallel dims first, then the reduced ones, both in physical order; the
  // result keeps the physical order of the dims that stay.
  SmallVector<AffineExpr, 6> index(rank), keptIndex;
  SmallVector<Iterator> iterators;
  for (bool pass : {false, true})
    for (unsigned logical : in.order)
      if (reduced[logical] == pass) {
        index[logical] = dim(static_cast<unsigned>(iterators.size()));
        iterators.push_back(pass ? Iterator::Reduction : Iterator::Parallel);
      }
  Dims keptSizes;
  SmallVector<unsigned, 6> keptPosition(rank, 0), keptOrder;
  for (size_t j = 0; j < rank; ++j)
    if (!reduced[j]) {
      keptPosition[j] = static_cast<unsigned>(keptSizes.size());
      keptSizes.push_back(sizes[j]);
      keptIndex.push_back(index[j]);
    }
  for (unsigned logical : in.order)
    if (!reduced[logical])
      keptOrder.push_back(keptPosition[logical]);
  ScalarBuilder s(b, location);
  LoweredTensor start =
      fill(b, location, empty(keptSizes, accumulate, keptOrder),
           s.constant(storageType(context(), accumulate), init));
  LoweredTensor result =
      generic(Access{in, index}, Access{start, keptIndex}, iterators,
              [&](ScalarBuilder &sb, ValueRange v) {
                return SmallVector<Value>{combine(sb, v[0], v[1])};
              })[0];
  if (!keepDim)
    return result;
  // The unit dims go back to where they were, also physically.
  Dims physical, logical;
  for (unsigned d : in.order)
    physical.push_back(reduced[d] ? Dim(1) : sizes[d]);
  for (size_t d = 0; d < rank; ++d)
    logical.push_back(reduced[d] ? Dim(1) : sizes[d]);
  // The memory itself, seen as a row-major tensor of its physical sizes.
  LoweredTensor wide = reshape(inMemoryOrder(result), physical);
  wide.order = in.order;
  wide.symbolic = symbolicOrNone(logical);
  return wide;
}

void LowerCall::checkTrue(LoweredTensor condition, const Twine &message) {
  newGroup();
  CheckTrueOp::create(b, location, condition.value,
                      b.getStringAttr(message.str()));
  newGroup();
}

void LowerCall::checkValue(LoweredTensor condition, const Twine &message) {
  std::string place = placeOf(location);
  checkTrue(condition, shownName(*decoded.schema) + ": " + message +
                           (place.empty() ? "" : " (" + place + ")"));
}

void LowerCall::checkIndex(LoweredTensor indices, Dim low, Dim high, Dim size) {
  Dims sizes = indices.dims();
  if (hasNoElements(sizes))
    return;
  newGroup();
  size_t rank = sizes.size();
  SmallVector<AffineExpr, 6> index(rank);
  SmallVector<Iterator> iterators(rank, Iterator::Reduction);
  for (size_t p = 0; p < rank; ++p)
    index[indices.order[p]] = dim(static_cast<unsigned>(p));
  DType from = indices.dtype;
  Access lowest{filledInt({}, DType::I64, std::numeric_limits<int64_t>::max()),
                {}};
  Access highest{filledInt({}, DType::I64, std::numeric_limits<int64_t>::min()),
                 {}};
  SmallVector<LoweredTensor> extremes = generic(
      Access{indices, index}, {lowest, highest}, iterators,
      [&](ScalarBuilder &s, ValueRange v) {
        Value i = s.cast(v[0], from, DType::I64);
        return SmallVector<Value>{s.minimum(i, v[1]), s.maximum(i, v[2])};
      });
  auto known = [&](Dim d) {
    return b.getI64IntegerAttr(d.isStatic() ? d.value() : 0);
  };
  ArrayAttr bounds;
  if (!low.isStatic() || !high.isStatic() || !size.isStatic())
    bounds = b.getStrArrayAttr({low.str(), high.str(), size.str()});
  CheckIndexOp::create(b, location, extremes[0].value, extremes[1].value,
                       known(low), known(high), known(size),
                       b.getStringAttr(decoded.schema->base), bounds);
  newGroup();
}

} // namespace ft
