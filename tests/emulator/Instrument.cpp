//===- Instrument.cpp - Device code to code of the emulator ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "Instrument.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/IntrinsicInst.h"
#include "llvm/IR/IntrinsicsNVPTX.h"

using namespace llvm;

namespace ft::emulator {

namespace {

constexpr unsigned kSharedSpace = 3;

class Instrumenter {
public:
  explicit Instrumenter(Module &module)
      : module(module), b(module.getContext()) {}

  Expected<Notes> run();

private:
  Error kernel(Function &f);
  bool replace(IntrinsicInst &call, KernelNotes &kernel);
  void access(Instruction &i, Value *pointer, Value *bytes, Align alignment,
              bool isStore);
  void entry(Function &f);
  Value *onStack(Type *type, unsigned count, ArrayRef<Value *> values);
  Value *fromStack(CallBase &call, Type *type, Value *memory);
  void copyLater(CallBase &call, unsigned bytes);
  Value *loadMatrix(CallBase &call);
  Value *multiply(CallBase &call);
  Value *place(const Twine &what) {
    notes.places.push_back(what.str());
    return b.getInt32(static_cast<uint32_t>(notes.places.size() - 1));
  }
  FunctionCallee helper(StringRef name, Type *result, ArrayRef<Type *> types) {
    return module.getOrInsertFunction(name,
                                      FunctionType::get(result, types, false));
  }

  Module &module;
  IRBuilder<> b;
  Notes notes;
  unsigned accesses = 0, waits = 0;
};

/// Functions that use a constant, through expressions too.
void findUsers(const Value *value, SetVector<const Function *> &functions) {
  for (const User *user : value->users()) {
    if (const auto *i = dyn_cast<Instruction>(user))
      functions.insert(i->getFunction());
    else
      findUsers(user, functions);
  }
}

} // namespace

void Instrumenter::access(Instruction &i, Value *pointer, Value *bytes,
                          Align alignment, bool isStore) {
  b.SetInsertPoint(&i);
  Value *at = b.CreatePtrToInt(pointer, b.getInt64Ty());
  Value *what = place("access " + Twine(accesses++) + ", a " +
                      (isStore ? "store" : "load"));
  b.CreateCall(helper("ft_emulator_access", b.getVoidTy(),
                      {b.getInt64Ty(), b.getInt64Ty(), b.getInt64Ty(),
                       b.getInt32Ty(), b.getInt32Ty()}),
               {at, b.CreateZExtOrTrunc(bytes, b.getInt64Ty()),
                b.getInt64(alignment.value()), b.getInt32(isStore), what});
}

/// `count` values on the stack of the kernel; those of `values` are in it.
Value *Instrumenter::onStack(Type *type, unsigned count,
                             ArrayRef<Value *> values) {
  IRBuilder<>::InsertPointGuard guard(b);
  Function *f = b.GetInsertBlock()->getParent();
  auto here = b.saveIP();
  b.SetInsertPoint(&f->getEntryBlock(), f->getEntryBlock().begin());
  Value *memory = b.CreateAlloca(type, b.getInt32(count));
  b.restoreIP(here);
  for (auto [i, v] : enumerate(values))
    b.CreateStore(b.CreateBitCast(v, type),
                  b.CreateConstGEP1_32(type, memory, i));
  return memory;
}

/// The result of an intrinsic: four values that stand in memory.
Value *Instrumenter::fromStack(CallBase &call, Type *type, Value *memory) {
  Value *result = PoisonValue::get(call.getType());
  for (unsigned i = 0; i < 4; ++i)
    result = b.CreateInsertValue(
        result, b.CreateLoad(type, b.CreateConstGEP1_32(type, memory, i)), i);
  return result;
}

void Instrumenter::copyLater(CallBase &call, unsigned bytes) {
  Type *address = b.getInt64Ty();
  b.CreateCall(
      helper(
          "ft_emulator_copy", b.getVoidTy(),
          {address, address, b.getInt32Ty(), b.getInt32Ty(), b.getInt32Ty()}),
      {b.CreatePtrToInt(call.getArgOperand(0), address),
       b.CreatePtrToInt(call.getArgOperand(1), address), b.getInt32(bytes),
       call.getArgOperand(2),
       place("access " + Twine(accesses++) + ", an asynchronous copy")});
}

Value *Instrumenter::loadMatrix(CallBase &call) {
  Value *result = onStack(b.getInt32Ty(), 4, {});
  bool isTurned = call.getIntrinsicID() ==
                  Intrinsic::nvvm_ldmatrix_sync_aligned_m8n8_x4_trans_b16;
  b.CreateCall(
      helper("ft_emulator_load_matrix", b.getVoidTy(),
             {b.getInt64Ty(), b.getPtrTy(), b.getInt32Ty(), b.getInt32Ty()}),
      {b.CreatePtrToInt(call.getArgOperand(0), b.getInt64Ty()), result,
       b.getInt32(isTurned), place("ldmatrix " + Twine(waits++))});
  return fromStack(call, b.getInt32Ty(), result);
}

Value *Instrumenter::multiply(CallBase &call) {
  SmallVector<Value *> all(call.args());
  ArrayRef<Value *> operands = all;
  Value *x = onStack(b.getInt32Ty(), 4, operands.take_front(4));
  Value *y = onStack(b.getInt32Ty(), 2, operands.slice(4, 2));
  Value *sums = onStack(b.getFloatTy(), 4, operands.slice(6, 4));
  // 0: bfloat16, 1: float16, 2: TF32.
  unsigned kind =
      operands[0]->getType()->isVectorTy()                                ? 1
      : call.getIntrinsicID() == Intrinsic::nvvm_mma_m16n8k8_row_col_tf32 ? 2
                                                                          : 0;
  b.CreateCall(helper("ft_emulator_multiply", b.getVoidTy(),
                      {b.getPtrTy(), b.getPtrTy(), b.getPtrTy(), b.getInt32Ty(),
                       b.getInt32Ty()}),
               {x, y, sums, b.getInt32(kind), place("mma " + Twine(waits++))});
  return fromStack(call, b.getFloatTy(), sums);
}

bool Instrumenter::replace(IntrinsicInst &call, KernelNotes &kernel) {
  b.SetInsertPoint(&call);
  Value *result = nullptr;
  switch (call.getIntrinsicID()) {
  case Intrinsic::nvvm_read_ptx_sreg_tid_x:
    result = b.CreateCall(helper("ft_emulator_thread", b.getInt32Ty(), {}));
    break;
  case Intrinsic::nvvm_read_ptx_sreg_ctaid_x:
    result = b.CreateCall(helper("ft_emulator_block", b.getInt32Ty(), {}));
    break;
  case Intrinsic::nvvm_barrier_cta_sync_aligned_all:
    b.CreateCall(helper("ft_emulator_barrier", b.getVoidTy(), {b.getInt32Ty()}),
                 {place("barrier " + Twine(waits++))});
    kernel.waits = true;
    break;
  case Intrinsic::nvvm_shfl_sync_bfly_i32:
    result =
        b.CreateCall(helper("ft_emulator_shuffle", b.getInt32Ty(),
                            {b.getInt32Ty(), b.getInt32Ty(), b.getInt32Ty()}),
                     {call.getArgOperand(1), call.getArgOperand(2),
                      place("shuffle " + Twine(waits++))});
    kernel.waits = true;
    break;
  case Intrinsic::nvvm_ldmatrix_sync_aligned_m8n8_x4_b16:
  case Intrinsic::nvvm_ldmatrix_sync_aligned_m8n8_x4_trans_b16:
    result = loadMatrix(call);
    kernel.waits = true;
    break;
  case Intrinsic::nvvm_mma_m16n8k16_row_col_bf16:
  case Intrinsic::nvvm_mma_m16n8k16_row_col_f32_f32:
  case Intrinsic::nvvm_mma_m16n8k8_row_col_tf32:
    result = multiply(call);
    kernel.waits = true;
    break;
  case Intrinsic::nvvm_f2tf32_rna:
    result = b.CreateCall(
        helper("ft_emulator_round", b.getInt32Ty(), {b.getInt32Ty()}),
        {b.CreateBitCast(call.getArgOperand(0), b.getInt32Ty())});
    break;
  case Intrinsic::nvvm_cp_async_ca_shared_global_4_s:
    copyLater(call, 4);
    break;
  case Intrinsic::nvvm_cp_async_ca_shared_global_8_s:
    copyLater(call, 8);
    break;
  case Intrinsic::nvvm_cp_async_cg_shared_global_16_s:
    copyLater(call, 16);
    break;
  case Intrinsic::nvvm_cp_async_commit_group:
    break; // waits are for all groups
  case Intrinsic::nvvm_cp_async_wait_all:
    b.CreateCall(helper("ft_emulator_wait", b.getVoidTy(), {}));
    kernel.waits = true;
    break;
  default:
    return false;
  }
  if (result)
    call.replaceAllUsesWith(result);
  call.eraseFromParent();
  return true;
}

/// `void NAME$emulated(ptr *parameters)`: each parameter stands where its
/// pointer says, as for cuLaunchKernel.
void Instrumenter::entry(Function &f) {
  auto *type = FunctionType::get(b.getVoidTy(), {b.getPtrTy()}, false);
  auto *run = Function::Create(type, GlobalValue::ExternalLinkage,
                               entryName(f.getName()), module);
  b.SetInsertPoint(BasicBlock::Create(module.getContext(), "", run));
  SmallVector<Value *> arguments;
  for (Argument &argument : f.args()) {
    Value *slot =
        b.CreateConstGEP1_32(b.getPtrTy(), run->getArg(0), argument.getArgNo());
    arguments.push_back(
        b.CreateLoad(argument.getType(), b.CreateLoad(b.getPtrTy(), slot)));
  }
  b.CreateCall(&f, arguments);
  b.CreateRetVoid();
}

Error Instrumenter::kernel(Function &f) {
  KernelNotes kernel;
  kernel.name = f.getName().str();
  accesses = waits = 0;
  const DataLayout &layout = module.getDataLayout();
  for (Instruction &i : make_early_inc_range(instructions(f))) {
    if (auto *load = dyn_cast<LoadInst>(&i)) {
      access(i, load->getPointerOperand(),
             b.getInt64(layout.getTypeStoreSize(load->getType())),
             load->getAlign(), false);
    } else if (auto *store = dyn_cast<StoreInst>(&i)) {
      Type *type = store->getValueOperand()->getType();
      access(i, store->getPointerOperand(),
             b.getInt64(layout.getTypeStoreSize(type)), store->getAlign(),
             true);
    } else if (auto *copy = dyn_cast<MemCpyInst>(&i)) {
      access(i, copy->getRawSource(), copy->getLength(),
             copy->getSourceAlign().valueOrOne(), false);
      access(i, copy->getRawDest(), copy->getLength(),
             copy->getDestAlign().valueOrOne(), true);
    } else if (auto *set = dyn_cast<MemSetInst>(&i)) {
      access(i, set->getRawDest(), set->getLength(),
             set->getDestAlign().valueOrOne(), true);
    } else if (auto *call = dyn_cast<IntrinsicInst>(&i)) {
      if (!replace(*call, kernel) &&
          call->getCalledFunction()->getName().starts_with("llvm.nvvm."))
        return createStringError("kernel \"" + kernel.name + "\" uses " +
                                 call->getCalledFunction()->getName() +
                                 ", which is not emulated");
    } else if (i.mayReadOrWriteMemory() && !isa<CallBase>(i)) {
      return createStringError("kernel \"" + kernel.name + "\" uses " +
                               i.getOpcodeName() + ", which is not emulated");
    }
  }
  f.setCallingConv(CallingConv::C);
  f.removeFnAttr("target-cpu");
  f.removeFnAttr("target-features");
  notes.kernels.push_back(std::move(kernel));
  return Error::success();
}

Expected<Notes> Instrumenter::run() {
  SmallVector<Function *> kernels;
  for (Function &f : module)
    if (!f.isDeclaration())
      kernels.push_back(&f);
  for (Function *f : kernels)
    if (Error error = kernel(*f))
      return error;
  for (GlobalVariable &variable : module.globals()) {
    SetVector<const Function *> users;
    findUsers(&variable, users);
    for (KernelNotes &k : notes.kernels)
      if (users.contains(module.getFunction(k.name)))
        (variable.getAddressSpace() == kSharedSpace ? k.shared : k.constants)
            .push_back(variable.getName().str());
    variable.setLinkage(GlobalValue::ExternalLinkage);
  }
  for (Function *f : kernels)
    entry(*f);
  return std::move(notes);
}

Expected<Notes> instrument(Module &module) {
  return Instrumenter(module).run();
}

} // namespace ft::emulator
