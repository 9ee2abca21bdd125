//===- CheckUndefinedTest.cpp - Undefined values are seen where used ------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions of LLVM IR, instrumented, optimized and called. Each row is a
// function of two integers, and calls of it that use an undefined value or not.

#include "compiler/codegen/cpu/CheckUndefined.h"

#include "llvm/AsmParser/Parser.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"
#include "llvm/IR/Verifier.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/SourceMgr.h"
#include "llvm/Support/TargetSelect.h"

#include <gtest/gtest.h>

using namespace llvm;

namespace {

std::vector<std::string> seen;
void failUndefined(const char *what) { seen.push_back(what); }

/// define i32 @f(i32 %x, i32 %y), instrumented.
class Checked {
public:
  explicit Checked(StringRef body) {
    InitializeNativeTarget();
    InitializeNativeTargetAsmPrinter();
    auto context = std::make_unique<LLVMContext>();
    SMDiagnostic error;
    std::string text = "define i32 @f(i32 %x, i32 %y) {\n" + body.str() +
                       "}\n"
                       "declare float @llvm.fma.f32(float, float, float)\n"
                       "declare i32 @llvm.ctlz.i32(i32, i1)\n"
                       "declare i32 @llvm.abs.i32(i32, i1)\n"
                       "declare void @llvm.assume(i1)\n"
                       "declare i32 @llvm.vector.reduce.add.v4i32(<4 x i32>)\n"
                       "declare void @llvm.masked.store.v4i32.p0(<4 x i32>, "
                       "ptr, <4 x i1>)\n";
    auto module = parseAssemblyString(text, error, *context);
    EXPECT_TRUE(module) << error.getMessage().str() << "\n" << text;
    if (!module)
      return;
    ft::checkUndefined(*module);
    std::string broken;
    raw_string_ostream os(broken);
    EXPECT_FALSE(verifyModule(*module, &os)) << broken;
    optimize(*module);
    jit = cantFail(orc::LLJITBuilder().create());
    auto &es = jit->getExecutionSession();
    orc::SymbolMap symbols;
    symbols[es.intern("ft_rt_fail_undefined")] = {
        orc::ExecutorAddr::fromPtr(&failUndefined), JITSymbolFlags::Exported};
    cantFail(jit->getMainJITDylib().define(
        orc::absoluteSymbols(std::move(symbols))));
    module->setDataLayout(jit->getDataLayout());
    cantFail(jit->addIRModule({std::move(module), std::move(context)}));
  }

  /// What is reported when f(x, y) runs.
  std::string report(int32_t x, int32_t y) {
    seen.clear();
    auto *f = cantFail(jit->lookup("f")).toPtr<int32_t (*)(int32_t, int32_t)>();
    result = f(x, y);
    return seen.empty() ? "" : seen.front();
  }
  int32_t result = 0;

private:
  static void optimize(Module &module) {
    PassBuilder builder;
    LoopAnalysisManager lam;
    FunctionAnalysisManager fam;
    CGSCCAnalysisManager cgam;
    ModuleAnalysisManager mam;
    builder.registerModuleAnalyses(mam);
    builder.registerCGSCCAnalyses(cgam);
    builder.registerFunctionAnalyses(fam);
    builder.registerLoopAnalyses(lam);
    builder.crossRegisterProxies(lam, fam, cgam, mam);
    builder.buildPerModuleDefaultPipeline(OptimizationLevel::O2)
        .run(module, mam);
  }
  std::unique_ptr<orc::LLJIT> jit;
};

constexpr int32_t kLeast = std::numeric_limits<int32_t>::min();
constexpr int32_t kMost = std::numeric_limits<int32_t>::max();

struct Row {
  const char *name;
  const char *body;
  std::vector<std::pair<int32_t, int32_t>> good, bad;
};

void PrintTo(const Row &row, std::ostream *os) { *os << row.name; }

const Row kRows[] = {
    {"SignedWrap",
     "%r = add nsw i32 %x, %y\n ret i32 %r",
     {{1, 2}, {kMost, 0}},
     {{kMost, 1}, {kLeast, -1}}},
    {"UnsignedWrap",
     "%r = sub nuw i32 %x, %y\n ret i32 %r",
     {{3, 2}, {-1, 5}},
     {{2, 3}}},
    {"Wrapping", "%r = mul i32 %x, %y\n ret i32 %r", {{kMost, kMost}}, {}},
    {"Shift",
     "%r = shl i32 %x, %y\n ret i32 %r",
     {{5, 31}},
     {{5, 32}, {5, -1}}},
    {"ShiftOut", "%r = shl nuw i32 %x, %y\n ret i32 %r", {{1, 31}}, {{2, 31}}},
    {"Exact", "%r = ashr exact i32 %x, %y\n ret i32 %r", {{8, 3}}, {{9, 3}}},
    // Poison in the arm that is not taken does no harm.
    {"ShiftBehindSelect",
     "%s = shl i32 %x, %y\n %c = icmp ult i32 %y, 32\n"
     "%r = select i1 %c, i32 %s, i32 0\n ret i32 %r",
     {{5, 3}, {5, 32}, {5, -7}},
     {}},
    {"ShiftBehindAnd",
     "%s = shl i32 %x, %y\n %z = icmp eq i32 %s, 0\n"
     "%c = icmp ult i32 %y, 32\n %o = and i1 %c, %z\n"
     "%r = zext i1 %o to i32\n ret i32 %r",
     {{5, 3}},
     {{5, 32}}},
    {"Division",
     "%r = sdiv i32 %x, %y\n ret i32 %r",
     {{7, 2}, {kLeast, 1}},
     {{7, 0}, {kLeast, -1}}},
    {"Remainder",
     "%r = urem i32 %x, %y\n ret i32 %r",
     {{kLeast, -1}},
     {{7, 0}}},
    {"DivisionOfLanes",
     "%a = insertelement <4 x i32> zeroinitializer, i32 %x, i32 1\n"
     "%b = insertelement <4 x i32> splat (i32 1), i32 %y, i32 3\n"
     "%q = sdiv <4 x i32> %a, %b\n %r = extractelement <4 x i32> %q, i32 1\n"
     "ret i32 %r",
     {{7, 2}},
     {{7, 0}}},
    {"FloatToInteger",
     "%d = sitofp i32 %x to float\n %e = fmul float %d, 2.0\n"
     "%r = fptosi float %e to i32\n ret i32 %r",
     {{1073741760, 0}, {-1073741824, 0}},
     {{1073741824, 0}, {-1073741952, 0}}},
    {"FloatToUnsigned",
     "%d = sitofp i32 %x to double\n %r = fptoui double %d to i8\n"
     "%s = zext i8 %r to i32\n ret i32 %s",
     {{255, 0}, {0, 0}},
     {{256, 0}, {-1, 0}}},
    {"HalfToWide",
     "%d = sitofp i32 %x to half\n %r = fptosi half %d to i32\n ret i32 %r",
     {{65504, 0}, {-65504, 0}},
     {{70000, 0}, {-70000, 0}}},
    {"NaN",
     "%d = bitcast i32 %x to float\n %e = fadd nnan float %d, 1.0\n"
     "%r = bitcast float %e to i32\n ret i32 %r",
     {{0, 0}, {0x7f800000, 0}},
     {{0x7fc00000, 0}}},
    {"NonNegative",
     "%w = zext nneg i32 %x to i64\n %r = trunc i64 %w to i32\n ret i32 %r",
     {{3, 0}},
     {{-3, 0}}},
    {"Disjoint",
     "%r = or disjoint i32 %x, %y\n ret i32 %r",
     {{1, 2}},
     {{1, 3}}},
    {"LeadingZeros",
     "%r = call i32 @llvm.ctlz.i32(i32 %x, i1 true)\n ret i32 %r",
     {{1, 0}},
     {{0, 0}}},
    {"Magnitude",
     "%r = call i32 @llvm.abs.i32(i32 %x, i1 true)\n ret i32 %r",
     {{-5, 0}},
     {{kLeast, 0}}},
    {"Assumption",
     "%c = icmp slt i32 %x, %y\n call void @llvm.assume(i1 %c)\n ret i32 0",
     {{1, 2}},
     {{2, 1}}},
    {"Element",
     "%v = insertelement <4 x i32> zeroinitializer, i32 %x, i32 %y\n"
     "%r = call i32 @llvm.vector.reduce.add.v4i32(<4 x i32> %v)\n ret i32 %r",
     {{5, 3}},
     {{5, 4}}},
    // Lanes that nothing gave a value, and a shuffle that drops them.
    {"Lanes",
     "%v = insertelement <4 x i32> poison, i32 %x, i32 0\n"
     "%w = shufflevector <4 x i32> %v, <4 x i32> poison, <4 x i32> "
     "zeroinitializer\n"
     "%r = call i32 @llvm.vector.reduce.add.v4i32(<4 x i32> %w)\n ret i32 %r",
     {{5, 3}},
     {}},
    {"LanesLeft",
     "%v = insertelement <4 x i32> poison, i32 %x, i32 0\n"
     "%r = call i32 @llvm.vector.reduce.add.v4i32(<4 x i32> %v)\n ret i32 %r",
     {},
     {{5, 3}}},
    {"MaskedStore",
     "%p = alloca <4 x i32>\n store <4 x i32> zeroinitializer, ptr %p\n"
     "%v = insertelement <4 x i32> poison, i32 %x, i32 0\n"
     "%c = icmp ne i32 %y, 0\n"
     "%m = insertelement <4 x i1> <i1 true, i1 false, i1 false, i1 false>, i1 "
     "%c, i32 3\n"
     "call void @llvm.masked.store.v4i32.p0(<4 x i32> %v, ptr align 4 %p, <4 x "
     "i1> %m)\n"
     "%r = load i32, ptr %p\n ret i32 %r",
     {{5, 0}},
     {{5, 1}}},
    {"Pairs",
     "%a = insertvalue {i32, i32} undef, i32 %x, 0\n"
     "%b = insertvalue {i32, i32} %a, i32 %y, 1\n"
     "%r = extractvalue {i32, i32} %b, 1\n ret i32 %r",
     {{5, 1}},
     {}},
    {"PairsLeft",
     "%a = insertvalue {i32, i32} undef, i32 %x, 0\n"
     "%r = extractvalue {i32, i32} %a, 1\n ret i32 %r",
     {},
     {{5, 1}}},
    {"Branch",
     "%s = add nsw i32 %x, %y\n %c = icmp sgt i32 %s, 0\n"
     "br i1 %c, label %a, label %b\na:\n ret i32 1\nb:\n ret i32 2",
     {{1, 1}, {-1, -1}},
     {{kMost, 1}}},
    {"Freeze",
     "%s = add nsw i32 %x, %y\n %r = freeze i32 %s\n ret i32 %r",
     {{kMost, 1}},
     {}},
    // Through the counter of a loop, which ends before the sum wraps or not.
    {"Loop",
     "br label %head\nhead:\n"
     "%i = phi i32 [0, %0], [%j, %body]\n %s = phi i32 [%x, %0], [%t, %body]\n"
     "%c = icmp slt i32 %i, %y\n br i1 %c, label %body, label %end\nbody:\n"
     "%t = add nsw i32 %s, 1000\n %j = add i32 %i, 1\n br label %head\nend:\n"
     "ret i32 %s",
     {{0, 10}, {kMost - 5000, 5}},
     {{kMost - 5000, 6}}},
};

class Undefined : public testing::TestWithParam<Row> {};

TEST_P(Undefined, IsReportedWhereItIsUsed) {
  Checked f(GetParam().body);
  for (auto [x, y] : GetParam().good)
    EXPECT_EQ(f.report(x, y), "") << x << " " << y;
  for (auto [x, y] : GetParam().bad)
    EXPECT_NE(f.report(x, y), "") << x << " " << y;
}
INSTANTIATE_TEST_SUITE_P(Rows, Undefined, testing::ValuesIn(kRows),
                         [](const auto &info) {
                           return std::string(info.param.name);
                         });

TEST(CheckUndefined, NamesFunctionAndInstruction) {
  Checked f("%r = add nsw i32 %x, %y\n ret i32 %r");
  EXPECT_EQ(f.report(kMost, 1), "\"f\" uses an undefined value: ret i32 %r");
}

TEST(CheckUndefined, ChangesNoResult) {
  Checked f("%s = shl i32 %x, %y\n %c = icmp ult i32 %y, 32\n"
            "%r = select i1 %c, i32 %s, i32 7\n ret i32 %r");
  EXPECT_EQ(f.report(3, 4), "");
  EXPECT_EQ(f.result, 48);
  EXPECT_EQ(f.report(3, 40), "");
  EXPECT_EQ(f.result, 7);
}

} // namespace
