//===- CheckUndefined.cpp - Reports uses of undefined values --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tests: tests/unit/codegen/CheckUndefinedTest.cpp

#include "compiler/codegen/cpu/CheckUndefined.h"

#include "llvm/ADT/PostOrderIterator.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstVisitor.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/Operator.h"
#include "llvm/Transforms/Utils/BasicBlockUtils.h"

using namespace llvm;

namespace ft {

/// A constant of i1s that are all set.
static Constant *allOf(Type *bits) {
  if (auto *array = dyn_cast<ArrayType>(bits)) {
    SmallVector<Constant *> parts(array->getNumElements(),
                                  allOf(array->getElementType()));
    return ConstantArray::get(array, parts);
  }
  if (auto *fields = dyn_cast<StructType>(bits)) {
    SmallVector<Constant *> parts;
    for (Type *field : fields->elements())
      parts.push_back(allOf(field));
    return ConstantStruct::get(fields, parts);
  }
  return Constant::getAllOnesValue(bits);
}

namespace {

/// The shadows of one function.
class Shadows : public InstVisitor<Shadows> {
public:
  explicit Shadows(Function &f)
      : function(f), b(f.getContext()), no(b.getFalse()), yes(b.getTrue()) {}

  void run();

  void visitPHINode(PHINode &phi);
  void visitBinaryOperator(BinaryOperator &op);
  void visitCastInst(CastInst &op);
  void visitICmpInst(ICmpInst &op);
  void visitSelectInst(SelectInst &op);
  void visitFreezeInst(FreezeInst &op) { set(op, none(op.getType())); }
  void visitExtractElementInst(ExtractElementInst &op);
  void visitInsertElementInst(InsertElementInst &op);
  void visitShuffleVectorInst(ShuffleVectorInst &op);
  void visitExtractValueInst(ExtractValueInst &op) {
    set(op,
        b.CreateExtractValue(of(op.getAggregateOperand()), op.getIndices()));
  }
  void visitInsertValueInst(InsertValueInst &op) {
    set(op,
        b.CreateInsertValue(of(op.getAggregateOperand()),
                            of(op.getInsertedValueOperand()), op.getIndices()));
  }
  void visitLoadInst(LoadInst &op) {
    reportOperands(op);
    set(op, none(op.getType()));
  }
  void visitStoreInst(StoreInst &op) { reportOperands(op); }
  void visitBranchInst(BranchInst &op) {
    if (op.isConditional())
      reportIf(op, any(of(op.getCondition())));
  }
  void visitSwitchInst(SwitchInst &op) {
    reportIf(op, any(of(op.getCondition())));
  }
  void visitReturnInst(ReturnInst &op) { reportOperands(op); }
  void visitUnreachableInst(UnreachableInst &op) { reportIf(op, yes); }
  void visitCallInst(CallInst &op);
  void visitInstruction(Instruction &op) {
    if (!op.getType()->isVoidTy())
      set(op, either(fromOperands(op), badFloats(op)));
  }

private:
  /// i1 for each scalar of a type.
  Type *typeOf(Type *t);
  Value *none(Type *t) { return Constant::getNullValue(typeOf(t)); }
  Value *all(Type *t) { return allOf(typeOf(t)); }
  Value *of(Value *v);
  Value *ofConstant(Constant *c);
  void set(Instruction &op, Value *shadow) { shadows[&op] = shadow; }
  static bool isNone(Value *shadow) {
    auto *c = dyn_cast<Constant>(shadow);
    return c && c->isNullValue();
  }
  Value *either(Value *x, Value *y) {
    return isNone(x) ? y : isNone(y) ? x : b.CreateOr(x, y);
  }
  Value *choose(Value *condition, Value *x, Value *y) {
    return x == y ? x : b.CreateSelect(condition, x, y);
  }
  /// Whether any scalar of a shadow is set, as i1.
  Value *any(Value *shadow);
  /// The shadow as that of a value of type `t`: lane by lane if it has as many,
  /// else from all of them.
  Value *shaped(Value *shadow, Type *t);
  Value *fromOperands(User &op);
  Value *badFloats(Instruction &op);
  Value *ofDivision(BinaryOperator &op);
  Value *ofShift(BinaryOperator &op);
  void ofIntrinsic(IntrinsicInst &op);
  void ofMasked(IntrinsicInst &op, Value *mask, Value *stored, Value *kept);

  void reportOperands(Instruction &op);
  void reportIf(Instruction &op, Value *bad);
  Value *text(Instruction &op);

  Function &function;
  IRBuilder<> b;
  /// A copy of the current instruction as it was: it loses what it says of its
  /// operands, since optimizations would conclude from it that no check fails.
  Instruction *said = nullptr;
  Value *no, *yes;
  DenseMap<Value *, Value *> shadows;
  SmallVector<std::pair<PHINode *, PHINode *>> phis;
};

} // namespace

Type *Shadows::typeOf(Type *t) {
  Type *bit = b.getInt1Ty();
  if (auto *vector = dyn_cast<FixedVectorType>(t))
    return FixedVectorType::get(bit, vector->getNumElements());
  if (auto *array = dyn_cast<ArrayType>(t))
    return ArrayType::get(typeOf(array->getElementType()),
                          array->getNumElements());
  if (auto *parts = dyn_cast<StructType>(t)) {
    SmallVector<Type *> types;
    for (Type *part : parts->elements())
      types.push_back(typeOf(part));
    return StructType::get(t->getContext(), types);
  }
  return bit;
}

Value *Shadows::ofConstant(Constant *c) {
  if (isa<UndefValue>(c)) // poison is one
    return all(c->getType());
  if (!c->containsUndefOrPoisonElement() && !c->getType()->isAggregateType())
    return none(c->getType());
  auto parts = [&](unsigned n) {
    SmallVector<Constant *> bits;
    for (unsigned i = 0; i < n; ++i) {
      Constant *part = c->getAggregateElement(i);
      bits.push_back(part ? cast<Constant>(ofConstant(part))
                          : cast<Constant>(no));
    }
    return bits;
  };
  Type *t = c->getType();
  if (auto *vector = dyn_cast<FixedVectorType>(t))
    return ConstantVector::get(parts(vector->getNumElements()));
  if (auto *array = dyn_cast<ArrayType>(t))
    return ConstantArray::get(cast<ArrayType>(typeOf(t)),
                              parts(array->getNumElements()));
  if (auto *fields = dyn_cast<StructType>(t))
    return ConstantStruct::get(cast<StructType>(typeOf(t)),
                               parts(fields->getNumElements()));
  return none(t);
}

Value *Shadows::of(Value *v) {
  if (auto it = shadows.find(v); it != shadows.end())
    return it->second;
  if (auto *c = dyn_cast<Constant>(v))
    return ofConstant(c);
  return none(v->getType()); // arguments, and what no code reaches
}

Value *Shadows::any(Value *shadow) {
  Type *t = shadow->getType();
  if (isNone(shadow))
    return no;
  if (isa<VectorType>(t))
    return b.CreateOrReduce(shadow);
  if (!t->isAggregateType())
    return shadow;
  Value *bad = no;
  unsigned n = isa<StructType>(t) ? t->getStructNumElements()
                                  : unsigned(t->getArrayNumElements());
  for (unsigned i = 0; i < n; ++i)
    bad = either(bad, any(b.CreateExtractValue(shadow, i)));
  return bad;
}

Value *Shadows::shaped(Value *shadow, Type *t) {
  Type *wanted = typeOf(t);
  if (shadow->getType() == wanted)
    return shadow;
  Value *bad = any(shadow);
  if (bad == no)
    return none(t);
  if (auto *vector = dyn_cast<FixedVectorType>(wanted))
    return b.CreateVectorSplat(vector->getNumElements(), bad);
  if (!wanted->isAggregateType())
    return bad;
  return b.CreateSelect(bad, all(t), none(t));
}

Value *Shadows::fromOperands(User &op) {
  Value *bad = none(op.getType());
  for (Value *operand : op.operands())
    if (!isa<BasicBlock, MetadataAsValue, Function, InlineAsm>(operand)) {
      Value *part = shaped(of(operand), op.getType());
      if (!op.getType()->isAggregateType())
        bad = either(bad, part);
      else if (!isNone(part))
        bad = part;
    }
  return bad;
}

/// Against `nnan` and `ninf`.
Value *Shadows::badFloats(Instruction &op) {
  Value *bad = none(op.getType());
  if (!isa<FPMathOperator>(op) || op.getType()->isAggregateType() ||
      (!said->hasNoNaNs() && !said->hasNoInfs()))
    return bad;
  auto add = [&](Value *v) {
    if (!v->getType()->isFPOrFPVectorTy())
      return;
    if (said->hasNoNaNs())
      bad = either(bad, shaped(b.CreateFCmpUNO(v, v), op.getType()));
    if (said->hasNoInfs()) {
      Value *size = b.CreateUnaryIntrinsic(Intrinsic::fabs, v);
      Value *isInf =
          b.CreateFCmpOEQ(size, ConstantFP::getInfinity(v->getType()));
      bad = either(bad, shaped(isInf, op.getType()));
    }
  };
  add(&op);
  for (Value *v : op.operands())
    add(v);
  return bad;
}

Value *Shadows::text(Instruction &op) {
  std::string what;
  raw_string_ostream os(what);
  std::string instruction;
  raw_string_ostream inner(instruction);
  op.print(inner);
  StringRef shown = StringRef(instruction).trim();
  os << "\"" << function.getName()
     << "\" uses an undefined value: " << shown.take_front(300);
  return b.CreateGlobalString(what, "undefined", 0, function.getParent());
}

void Shadows::reportIf(Instruction &op, Value *bad) {
  if (bad == no)
    return;
  FunctionCallee report = function.getParent()->getOrInsertFunction(
      "ft_rt_fail_undefined", b.getVoidTy(), b.getPtrTy());
  Value *what = text(op);
  if (bad == yes) {
    b.SetInsertPoint(&op);
    b.CreateCall(report, what);
    return;
  }
  Instruction *then = SplitBlockAndInsertIfThen(bad, op.getIterator(), false);
  b.SetInsertPoint(then);
  b.CreateCall(report, what);
  b.SetInsertPoint(&op);
}

void Shadows::reportOperands(Instruction &op) {
  b.SetInsertPoint(&op);
  Value *bad = no;
  for (Value *operand : op.operands())
    if (!isa<BasicBlock, MetadataAsValue, Function, InlineAsm>(operand))
      bad = either(bad, any(of(operand)));
  reportIf(op, bad);
}

void Shadows::visitPHINode(PHINode &phi) {
  b.SetInsertPoint(&phi);
  PHINode *shadow =
      b.CreatePHI(typeOf(phi.getType()), phi.getNumIncomingValues());
  phis.emplace_back(&phi, shadow);
  set(phi, shadow);
}

Value *Shadows::ofDivision(BinaryOperator &op) {
  bool isSigned = op.getOpcode() == Instruction::SDiv ||
                  op.getOpcode() == Instruction::SRem;
  Value *x = op.getOperand(0), *y = op.getOperand(1);
  Type *t = op.getType();
  b.SetInsertPoint(&op);
  Value *bad = either(of(y), b.CreateICmpEQ(y, Constant::getNullValue(t)));
  if (isSigned) {
    auto least =
        ConstantInt::get(t, APInt::getSignedMinValue(t->getScalarSizeInBits()));
    bad = either(bad,
                 b.CreateAnd(b.CreateICmpEQ(x, least),
                             b.CreateICmpEQ(y, Constant::getAllOnesValue(t))));
  }
  if (Value *some = any(bad); some != no) {
    // The processor would stop here.
    op.setOperand(1, b.CreateSelect(bad, ConstantInt::get(t, 1), y));
    reportIf(op, some);
  }
  b.SetInsertPoint(op.getNextNode());
  Value *result = shaped(of(x), t);
  if (isa<PossiblyExactOperator>(op) && said->isExact()) {
    Value *back = b.CreateMul(&op, op.getOperand(1));
    result = either(result, b.CreateICmpNE(back, x));
  }
  return result;
}

Value *Shadows::ofShift(BinaryOperator &op) {
  Value *x = op.getOperand(0), *n = op.getOperand(1);
  Type *t = op.getType();
  Value *bad =
      b.CreateICmpUGE(n, ConstantInt::get(t, t->getScalarSizeInBits()));
  bool wraps = isa<OverflowingBinaryOperator>(op);
  if (wraps && said->hasNoUnsignedWrap())
    bad = either(bad, b.CreateICmpNE(b.CreateLShr(&op, n), x));
  if (wraps && said->hasNoSignedWrap())
    bad = either(bad, b.CreateICmpNE(b.CreateAShr(&op, n), x));
  if (isa<PossiblyExactOperator>(op) && said->isExact())
    bad = either(bad, b.CreateICmpNE(b.CreateShl(&op, n), x));
  return bad;
}

void Shadows::visitBinaryOperator(BinaryOperator &op) {
  Value *x = op.getOperand(0), *y = op.getOperand(1);
  auto overflow = [&](Intrinsic::ID id) {
    return b.CreateExtractValue(b.CreateBinaryIntrinsic(id, x, y), 1);
  };
  auto wraps = [&](Intrinsic::ID whenSigned, Intrinsic::ID whenNot) {
    Value *bad = none(op.getType());
    if (said->hasNoSignedWrap())
      bad = either(bad, overflow(whenSigned));
    if (said->hasNoUnsignedWrap())
      bad = either(bad, overflow(whenNot));
    return bad;
  };
  Value *own = nullptr;
  switch (op.getOpcode()) {
  case Instruction::SDiv:
  case Instruction::UDiv:
  case Instruction::SRem:
  case Instruction::URem:
    return set(op, ofDivision(op));
  case Instruction::Add:
    own = wraps(Intrinsic::sadd_with_overflow, Intrinsic::uadd_with_overflow);
    break;
  case Instruction::Sub:
    own = wraps(Intrinsic::ssub_with_overflow, Intrinsic::usub_with_overflow);
    break;
  case Instruction::Mul:
    own = wraps(Intrinsic::smul_with_overflow, Intrinsic::umul_with_overflow);
    break;
  case Instruction::Shl:
  case Instruction::LShr:
  case Instruction::AShr:
    own = ofShift(op);
    break;
  case Instruction::Or:
    own = none(op.getType());
    if (cast<PossiblyDisjointInst>(said)->isDisjoint())
      own = b.CreateICmpNE(b.CreateAnd(x, y),
                           Constant::getNullValue(op.getType()));
    break;
  default:
    own = badFloats(op);
  }
  set(op, either(fromOperands(op), own));
}

void Shadows::visitCastInst(CastInst &op) {
  Value *x = op.getOperand(0);
  Type *t = op.getType();
  unsigned width = t->getScalarSizeInBits();
  Value *bad = fromOperands(op);
  bool isSigned = op.getOpcode() == Instruction::FPToSI;
  if (isSigned || op.getOpcode() == Instruction::FPToUI) {
    Value *whole = b.CreateUnaryIntrinsic(Intrinsic::trunc, x);
    const fltSemantics &kind = x->getType()->getScalarType()->getFltSemantics();
    auto number = [&](const APInt &n) {
      APFloat f(kind);
      (void)f.convertFromAPInt(n, /*IsSigned=*/true, APFloat::rmTowardZero);
      return ConstantFP::get(x->getType(), f);
    };
    // One more bit than the integer has, and its sign.
    APInt end = APInt::getOneBitSet(width + 2, isSigned ? width - 1 : width);
    APInt low = isSigned ? -end : APInt::getZero(width + 2);
    Value *ok = b.CreateAnd(b.CreateFCmpOGE(whole, number(low)),
                            b.CreateFCmpOLT(whole, number(end)));
    // A kind of float that ends before the integer does.
    APFloat last(kind);
    if (last.convertFromAPInt(end, true, APFloat::rmNearestTiesToEven) &
        APFloat::opOverflow)
      ok = b.CreateFCmpOLT(b.CreateUnaryIntrinsic(Intrinsic::fabs, whole),
                           ConstantFP::getInfinity(x->getType()));
    bad = either(bad, b.CreateNot(ok));
  } else if (auto *cut = dyn_cast<TruncInst>(said)) {
    if (cut->hasNoUnsignedWrap())
      bad = either(bad, b.CreateICmpNE(b.CreateZExt(&op, x->getType()), x));
    if (cut->hasNoSignedWrap())
      bad = either(bad, b.CreateICmpNE(b.CreateSExt(&op, x->getType()), x));
  } else if (isa<PossiblyNonNegInst>(op) && said->hasNonNeg()) {
    bad = either(bad, b.CreateICmpSLT(x, Constant::getNullValue(x->getType())));
  }
  set(op, bad);
}

void Shadows::visitICmpInst(ICmpInst &op) {
  Value *bad = fromOperands(op);
  if (cast<ICmpInst>(said)->hasSameSign())
    bad = either(bad, b.CreateICmpSLT(
                          b.CreateXor(op.getOperand(0), op.getOperand(1)),
                          Constant::getNullValue(op.getOperand(0)->getType())));
  set(op, bad);
}

void Shadows::visitSelectInst(SelectInst &op) {
  Value *chosen =
      choose(op.getCondition(), of(op.getTrueValue()), of(op.getFalseValue()));
  Value *condition = of(op.getCondition());
  if (any(condition) == no)
    return set(op, chosen);
  if (op.getType()->isAggregateType())
    return set(op, b.CreateSelect(any(condition), all(op.getType()), chosen));
  set(op,
      either(either(chosen, shaped(condition, op.getType())), badFloats(op)));
}

void Shadows::visitExtractElementInst(ExtractElementInst &op) {
  auto *type = cast<FixedVectorType>(op.getVectorOperandType());
  Value *at = op.getIndexOperand();
  Value *outside = b.CreateICmpUGE(
      at, ConstantInt::get(at->getType(), type->getNumElements()));
  Value *inside =
      b.CreateSelect(outside, Constant::getNullValue(at->getType()), at);
  Value *lane = b.CreateExtractElement(of(op.getVectorOperand()), inside);
  set(op, either(either(lane, outside), of(at)));
}

void Shadows::visitInsertElementInst(InsertElementInst &op) {
  auto *type = cast<FixedVectorType>(op.getType());
  Value *at = op.getOperand(2);
  Value *outside = either(
      of(at), b.CreateICmpUGE(
                  at, ConstantInt::get(at->getType(), type->getNumElements())));
  Value *inside =
      b.CreateSelect(outside, Constant::getNullValue(at->getType()), at);
  Value *lanes =
      b.CreateInsertElement(of(op.getOperand(0)), of(op.getOperand(1)), inside);
  if (outside != no)
    lanes = either(lanes, shaped(outside, type));
  set(op, lanes);
}

void Shadows::visitShuffleVectorInst(ShuffleVectorInst &op) {
  SmallVector<int> mask(op.getShuffleMask());
  SmallVector<Constant *> dropped;
  for (int &lane : mask) {
    dropped.push_back(b.getInt1(lane < 0));
    lane = std::max(lane, 0);
  }
  Value *lanes =
      b.CreateShuffleVector(of(op.getOperand(0)), of(op.getOperand(1)), mask);
  set(op, either(lanes, ConstantVector::get(dropped)));
}

/// An access under a mask: what it stores, or what it gives where it loads
/// nothing.
void Shadows::ofMasked(IntrinsicInst &op, Value *mask, Value *stored,
                       Value *kept) {
  b.SetInsertPoint(&op);
  Value *bad = any(of(mask));
  auto add = [&](Value *v) {
    if (isa<VectorType>(v->getType()))
      bad = either(bad, any(b.CreateAnd(mask, of(v))));
    else
      bad = either(bad, any(of(v)));
  };
  for (Value *operand : op.args())
    if (operand->getType()->isPtrOrPtrVectorTy())
      add(operand);
  if (stored)
    add(stored);
  reportIf(op, bad);
  b.SetInsertPoint(op.getNextNode());
  if (kept)
    set(op, choose(mask, none(op.getType()), of(kept)));
}

void Shadows::ofIntrinsic(IntrinsicInst &op) {
  auto argument = [&](unsigned i) { return op.getArgOperand(i); };
  auto flag = [&] { return cast<Constant>(argument(1))->isOneValue(); };
  auto equals = [&](const APInt &n) {
    return b.CreateICmpEQ(argument(0), ConstantInt::get(op.getType(), n));
  };
  unsigned width = op.getType()->getScalarSizeInBits();
  switch (op.getIntrinsicID()) {
  case Intrinsic::masked_load:
  case Intrinsic::masked_gather:
    return ofMasked(op, argument(1), nullptr, argument(2));
  case Intrinsic::masked_store:
  case Intrinsic::masked_scatter:
    return ofMasked(op, argument(2), argument(0), nullptr);
  case Intrinsic::assume:
    b.SetInsertPoint(&op);
    return reportIf(op, either(b.CreateNot(argument(0)), any(of(argument(0)))));
  case Intrinsic::ctlz:
  case Intrinsic::cttz:
    return set(op,
               either(of(argument(0)), flag() ? equals(APInt::getZero(width))
                                              : none(op.getType())));
  case Intrinsic::abs:
    return set(op, either(of(argument(0)),
                          flag() ? equals(APInt::getSignedMinValue(width))
                                 : none(op.getType())));
  default:
    if (!op.getType()->isVoidTy())
      return visitInstruction(op);
    b.SetInsertPoint(&op);
    Value *bad = no; // memcpy and the like
    for (Value *v : op.args())
      if (!isa<MetadataAsValue>(v))
        bad = either(bad, any(of(v)));
    reportIf(op, bad);
  }
}

void Shadows::visitCallInst(CallInst &op) {
  if (auto *intrinsic = dyn_cast<IntrinsicInst>(&op))
    return ofIntrinsic(*intrinsic);
  reportOperands(op);
  if (!op.getType()->isVoidTy())
    set(op, none(op.getType()));
}

void Shadows::run() {
  SmallVector<Instruction *> order;
  for (BasicBlock *block : ReversePostOrderTraversal<Function *>(&function))
    for (Instruction &op : *block)
      order.push_back(&op);
  for (Instruction *op : order) {
    if (isa<PHINode>(op) || op->isTerminator())
      b.SetInsertPoint(op);
    else
      b.SetInsertPoint(op->getNextNode());
    said = op->clone();
    op->dropPoisonGeneratingFlags();
    visit(*op);
    said->deleteValue();
  }
  for (auto [phi, shadow] : phis)
    for (unsigned i = 0; i < phi->getNumIncomingValues(); ++i)
      shadow->addIncoming(of(phi->getIncomingValue(i)),
                          phi->getIncomingBlock(i));
}

void checkUndefined(Module &module) {
  for (Function &f : module)
    if (!f.isDeclaration())
      Shadows(f).run();
}

} // namespace ft
