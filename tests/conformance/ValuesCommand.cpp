//===- ValuesCommand.cpp - ft-conformance values --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tests/conformance/ValuesCommand.h"

#include "compiler/driver/FakeVerifier.h"
#include "compiler/driver/Session.h"
#include "compiler/fake/FakeCall.h"
#include "compiler/fake/FakeScope.h"
#include "dialects/ft/FtDialect.h"
#include "tests/conformance/CentralDifferences.h"
#include "tests/conformance/Compare.h"
#include "tests/conformance/CompileTimes.h"
#include "tests/conformance/CompiledModel.h"
#include "tests/conformance/DataFile.h"
#include "tests/conformance/EmulatedDevice.h"
#include "tests/conformance/Gauge.h"
#include "tests/conformance/Gradients.h"
#include "tests/conformance/GraphBuilder.h"
#include "tests/conformance/Lines.h"
#include "tests/conformance/OpCase.h"
#include "tests/conformance/OtherSizes.h"
#include "tests/conformance/ScratchFolder.h"
#include "tests/interpreter/Interpreter.h"

#include "llvm/Support/GlobPattern.h"

#include <set>

using namespace ft;
using namespace ft::conformance;

namespace {
using Batch = llvm::ArrayRef<const ValueCase *>;

class ValuesRun {
public:
  ValuesRun(const DataFile &data, const ValuesOptions &options, Report &report)
      : data(data), options(options), report(report),
        others(data, scratch, report) {}

  /// Whether the call has its rules and passes its fake rule; reports it if
  /// not.
  bool admit(const ValueCase &test);
  void run(Batch batch);
  /// The same with the interpreter's results.
  void interpret(const ValueCase &test);

private:
  /// Empty: the batch ran and was compared. Otherwise why not.
  std::string tryBatch(Batch batch);
  /// `also` says which annotation or gradient is wrong, if one is.
  void check(const ValueCase &test, llvm::ArrayRef<HostTensor> inputs,
             llvm::ArrayRef<HostTensor> results, llvm::StringRef also = "");
  /// What is wrong with the gradients, empty if nothing is. Those that are not
  /// the recorded ones are right if central differences say so, and that the
  /// recorded ones are wrong or belong to another choice of the results.
  std::string wrongGradients(const ValueCase &test,
                             const GradientResults &gradients,
                             llvm::ArrayRef<HostTensor> results);
  /// Whether a recorded cotangent is that of a result with no unique value,
  /// which has come out otherwise than recorded: the recorded gradients are
  /// then those of another choice.
  bool choseOtherwise(const ValueCase &test,
                      llvm::ArrayRef<HostTensor> results);
  /// What differs, empty if nothing does.
  std::string differences(const ValueCase &test,
                          llvm::ArrayRef<HostTensor> inputs,
                          llvm::ArrayRef<HostTensor> results);
  void fail(const ValueCase &test, llvm::StringRef got) {
    report.fail(label(test), test.op, "the values of the file", got);
  }
  static std::string label(const ValueCase &test) {
    return std::to_string(test.id) + " " + test.op;
  }

  const DataFile &data;
  const ValuesOptions &options;
  Report &report;
  ScratchFolder scratch;
  OtherSizes others;
  unsigned artefacts = 0;
};
} // namespace

static std::vector<TensorMeta> metasOf(const ValueCase &test) {
  std::vector<TensorMeta> metas;
  for (const StoredTensor &tensor : test.tensors)
    metas.push_back(TensorMeta::contiguous(
        tensor.dtype, Dims(tensor.shape.begin(), tensor.shape.end())));
  return metas;
}

bool ValuesRun::admit(const ValueCase &test) {
  auto refuse = [&](const std::string &why) {
    fail(test, why);
    return false;
  };
  if (!test.schema || !findFakeRule(*test.schema))
    return refuse("no fake rule for the operator");
  std::vector<TensorMeta> metas = metasOf(test);
  // What depends on data is allowed, as in a graph.
  SymContext symbols;
  ShapeEnv env(symbols);
  FakeScope scope(env);
  scope.allowUnknownTruth();
  FakeCall call(*test.schema, test.args, metas);
  call.scope = &scope;
  if (llvm::failed(propagateCall(call)))
    return refuse("error: " + call.message);
  if (!options.emulated)
    return true;
  // What was recorded is of the CPU.
  for (TensorMeta &meta : metas)
    meta.device = *Device::parse("cuda:0");
  FakeCall onGpu(*test.schema, test.args, metas);
  onGpu.scope = &scope;
  bool differs = llvm::failed(propagateCall(onGpu)) ||
                 onGpu.results.size() != call.results.size();
  for (size_t i = 0; i < call.results.size() && !differs; ++i)
    differs = onGpu.results[i].meta.sizes != call.results[i].meta.sizes;
  if (differs)
    report.skip("device-rule", label(test), "its results differ on a GPU");
  return !differs;
}

static bool isOutput(const ExpectedResult &result) {
  return result.kind == ExpectedResult::Tensor ||
         result.kind == ExpectedResult::Number;
}

unsigned ft::conformance::resultCount(const ValueCase &test) {
  return test.schema->returns.empty() ? 0 : test.results.size();
}

size_t ft::conformance::outputCount(const ValueCase &test) {
  return llvm::count_if(
      llvm::ArrayRef(test.results).take_front(resultCount(test)), isOutput);
}

/// Symbols for the sizes of a call: equal sizes have one, those below 2 none.
static Dims symbolicSizes(GraphBuilder &graph, SymContext &symbols,
                          const std::string &call,
                          llvm::ArrayRef<int64_t> shape,
                          std::set<int64_t> &known) {
  Dims dims;
  for (int64_t size : shape) {
    if (size < 2) {
      dims.push_back(size);
      continue;
    }
    std::string name = "s" + std::to_string(size) + "_" + call;
    if (known.insert(size).second)
      graph.addSymbol(name, {2, int64_t(1) << 20}, size);
    dims.push_back(Dim(symbols.symbol(name)));
  }
  return dims;
}

void ft::conformance::addValueCall(GraphBuilder &graph, const ValueCase &test,
                                   SymContext *symbols, bool withGradients) {
  std::string name = callName(test);
  llvm::SmallVector<mlir::Value> operands;
  std::set<int64_t> known;
  for (auto [i, tensor] : llvm::enumerate(test.tensors)) {
    std::string argument = argumentName(test, i);
    Dims sizes(tensor.shape.begin(), tensor.shape.end());
    if (symbols)
      sizes = symbolicSizes(graph, *symbols, name, tensor.shape, known);
    operands.push_back(
        graph.addInput(argument, "input", argument,
                       TensorMeta::contiguous(tensor.dtype, sizes)));
    auto gradient = test.gradients.find(i);
    if (withGradients && gradient != test.gradients.end() && gradient->second)
      graph.requireGradient(operands.back());
  }
  mlir::Operation *op =
      graph.addCall(*test.schema, test.args, operands, resultCount(test), name);
  for (auto [i, value] : llvm::enumerate(op->getResults()))
    if (isOutput(test.results[i]))
      graph.addOutput(value, resultName(test, i));
}

/// The line of `text` that holds `name` as a whole word; empty if none does.
static std::string lineNaming(llvm::StringRef text, llvm::StringRef name) {
  auto isPart = [](char c) { return llvm::isAlnum(c) || c == '_' || c == '.'; };
  while (!text.empty()) {
    auto [line, tail] = text.split('\n');
    size_t at = line.find(name);
    if (at != llvm::StringRef::npos && (at == 0 || !isPart(line[at - 1])) &&
        (at + name.size() == line.size() || !isPart(line[at + name.size()])))
      return line.str();
    text = tail;
  }
  return "";
}

/// The line about a value of call `name`: "'call_3' …", "'call_3_arg0' …".
static llvm::StringRef lineAbout(llvm::StringRef lines,
                                 const std::string &name) {
  while (!lines.empty()) {
    auto [line, tail] = lines.split('\n');
    if (line.starts_with("'" + name + "'") ||
        line.starts_with("'" + name + "_"))
      return line;
    lines = tail;
  }
  return "";
}

/// What the verifier says of a run, a line for each wrong annotation.
static std::string compareLayouts(FakeVerifier &verifier,
                                  llvm::ArrayRef<HostTensor> inputs,
                                  llvm::ArrayRef<HostTensor> results) {
  SeenRun run;
  for (const HostTensor &t : inputs)
    run.inputs.push_back(t.shape);
  for (const HostTensor &t : results)
    run.outputs.push_back({dtypeName(t.dtype).str(), t.shape,
                           reinterpret_cast<const uint8_t *>(t.bytes.data())});
  run.text = [&](size_t output, int64_t element) {
    std::complex<double> v = results[output].view().at(element);
    std::string text = std::to_string(v.real());
    return v.imag() == 0 ? text : text + " + " + std::to_string(v.imag()) + "i";
  };
  verifier.compare(run);
  std::string lines;
  for (const Diagnostic &diagnostic : verifier.diagnostics())
    lines += diagnostic.message + "\n";
  return lines;
}

std::string ValuesRun::tryBatch(Batch batch) {
  Options options;
  options.catchCrashes = true;
  options.checks = this->options.checks;
  options.joint = this->options.grad;
  if (this->options.emulated)
    moveToEmulatedDevice(options);
  Session session(options);
  GraphBuilder graph(session.context(), "calls");
  std::vector<HostTensor> inputs;
  for (const ValueCase *test : batch) {
    SymContext *symbols =
        this->options.symbolic
            ? &session.context().getOrLoadDialect<FtDialect>()->symbolContext()
            : nullptr;
    addValueCall(graph, *test, symbols, this->options.grad);
    for (const StoredTensor &tensor : test->tensors) {
      llvm::Expected<HostTensor> input = data.copy(tensor);
      if (!input)
        return llvm::toString(input.takeError());
      inputs.push_back(std::move(*input));
    }
  }
  std::string base = scratch.file("calls" + llvm::Twine(artefacts++));
  FakeVerifier verifier;
  if (!session.loadText(graph.finish(), "calls") ||
      (this->options.verifyFake && !verifier.prepare(session)) ||
      !session.compile(base)) {
    std::string why;
    for (const Diagnostic &diagnostic : session.diagnostics())
      why += (why.empty() ? "" : "\n") + diagnostic.render();
    return why.empty() ? "no diagnostic" : why;
  }
  auto model = CompiledModel::load(session.files().library);
  if (!model)
    return llvm::toString(model.takeError());
  if (this->options.grad)
    if (llvm::Error error = addTangents((*model)->info(), data, batch, inputs))
      return llvm::toString(std::move(error));
  auto results = (*model)->forward(inputs);
  if (!results)
    return llvm::toString(results.takeError());
  GradientResults gradients((*model)->info(), *results);

  llvm::ArrayRef<HostTensor> in = inputs, out = *results;
  std::string layouts = compareLayouts(verifier, in, out);
  out = out.drop_back(verifier.extraOutputs());
  if (this->options.verifyFake) {
    report.note("annotations compared with the run", verifier.values());
    report.note("views read through their storage", verifier.views());
    for (const auto &[reason, count] : verifier.skipped())
      report.note("annotations not compared: " + reason, count);
  }
  for (const ValueCase *test : batch) {
    size_t outputs = outputCount(*test);
    if (out.size() < outputs)
      return "too few outputs";
    std::string also = lineAbout(layouts, callName(*test)).str();
    if (also.empty() && this->options.grad)
      also = wrongGradients(*test, gradients, out.take_front(outputs));
    check(*test, in.take_front(test->tensors.size()), out.take_front(outputs),
          also);
    in = in.drop_front(test->tensors.size());
    out = out.drop_front(outputs);
  }
  if (this->options.symbolic)
    others.check(batch, session.files().library);
  return "";
}

/// One line for the report.
static std::string firstLine(llvm::StringRef text) {
  return text.split('\n').first.str();
}

/// Whether the compiler said that it cannot do this with sizes of the run.
static bool isRefusal(llvm::StringRef why) {
  return why.contains("[FT0501]") || why.contains("[FT0311]");
}

void ValuesRun::run(Batch batch) {
  if (batch.empty())
    return;
  std::string why = tryBatch(batch);
  if (why.empty())
    return;
  if (batch.size() == 1) {
    if (options.emulated && isWithoutDeviceCode(why))
      return report.skip("no-cuda", label(*batch.front()), firstLine(why));
    if (options.symbolic && isRefusal(why))
      return report.skip("takes no sizes of the run", label(*batch.front()),
                         firstLine(why));
    return fail(*batch.front(), firstLine(why));
  }
  // Diagnostics name the location of a call that they are about, or only its
  // operator: of those the calls are tried on their own.
  std::vector<const ValueCase *> sameOperator, rest;
  for (const ValueCase *test : batch) {
    std::string line = lineNaming(why, callName(*test));
    if (!line.empty() && options.symbolic && isRefusal(line))
      report.skip("takes no sizes of the run", label(*test), line);
    else if (!line.empty() && options.emulated && isWithoutDeviceCode(line))
      report.skip("no-cuda", label(*test), line);
    else if (!line.empty())
      fail(*test, line);
    else if (!lineNaming(why, test->op).empty())
      sameOperator.push_back(test);
    else
      rest.push_back(test);
  }
  if (sameOperator.size() < batch.size() && rest.size() < batch.size()) {
    run(sameOperator);
    return run(rest);
  }
  run(batch.take_front(batch.size() / 2));
  run(batch.drop_front(batch.size() / 2));
}

bool ValuesRun::choseOtherwise(const ValueCase &test,
                               llvm::ArrayRef<HostTensor> results) {
  Accuracy accuracy = accuracyOfFamily(test.schema->family);
  size_t next = 0;
  for (auto [i, want] : llvm::enumerate(test.results)) {
    if (!isOutput(want))
      continue;
    const HostTensor &got = results[next++];
    bool free =
        want.kind != ExpectedResult::Number &&
        llvm::is_contained(test.gauge, i) &&
        llvm::any_of(test.cotangents, [&](auto &c) { return c.first == i; });
    if (!free)
      continue;
    llvm::Expected<TensorView> stored = data.view(want.stored);
    if (!stored) {
      llvm::consumeError(stored.takeError()); // `differences` reports it
      return false;
    }
    if (compareTensors(got.view(), *stored, accuracy))
      return true;
  }
  return false;
}

std::string ValuesRun::wrongGradients(const ValueCase &test,
                                      const GradientResults &gradients,
                                      llvm::ArrayRef<HostTensor> results) {
  std::string difference = gradients.differences(test, data);
  if (difference.empty())
    return "";
  auto slopes = slopesOf(test, data, gradients, scratch);
  if (!slopes)
    return difference + "; " + llvm::toString(slopes.takeError());
  bool other = choseOtherwise(test, results), recordedIsWrong = false;
  std::string why;
  for (const Slopes &slope : *slopes) {
    if (!slope.compiledIsRight())
      return difference + "; " + slope.str();
    if (slope.recordedIsRight())
      continue;
    recordedIsWrong = true;
    why += (why.empty() ? "" : "; ") + slope.str();
  }
  if (!recordedIsWrong)
    return difference;
  report.note(other ? "gradients of another choice of results, right by "
                      "central differences"
                    : "recorded gradients that central differences contradict",
              label(test), why);
  return "";
}

std::string ValuesRun::differences(const ValueCase &test,
                                   llvm::ArrayRef<HostTensor> inputs,
                                   llvm::ArrayRef<HostTensor> results) {
  Accuracy accuracy = accuracyOfFamily(test.schema->family);
  bool signedZero = llvm::StringRef(test.note).contains("signed zero");
  size_t next = 0;
  std::vector<TensorView> views(test.results.size());
  for (size_t i = 0; i < test.results.size(); ++i) {
    const ExpectedResult &want = test.results[i];
    if (!isOutput(want))
      continue;
    TensorView got = views[i] = results[next++].view();
    std::string where = "result " + std::to_string(i) + " ";
    if (want.kind == ExpectedResult::Number) {
      if (got.numel() != 1)
        return where + "is no number";
      double number = want.number.kind == Arg::Int    ? want.number.dim.value()
                      : want.number.kind == Arg::Bool ? want.number.boolean
                                                      : want.number.real;
      if (!(std::abs(got.at(0).real() - number) <= 1e-6 * std::abs(number)))
        return where + "expected " + want.str() + ", got " +
               std::to_string(got.at(0).real());
      continue;
    }
    if (llvm::is_contained(test.gauge, i))
      continue;
    llvm::Expected<TensorView> stored = data.view(want.stored);
    if (!stored)
      return llvm::toString(stored.takeError());
    std::optional<TensorView> exact;
    if (test.results64[i]) {
      llvm::Expected<TensorView> view = data.view(*test.results64[i]);
      if (!view)
        return llvm::toString(view.takeError());
      exact = *view;
    }
    if (auto difference = compareTensors(got, *stored, accuracy,
                                         exact ? &*exact : nullptr, signedZero))
      return where + *difference;
    if (exact)
      if (auto difference = compareErrors(got, *stored, *exact))
        return where + *difference;
  }
  for (const auto &[index, stored] : test.mutated) {
    llvm::Expected<TensorView> want = data.view(stored);
    if (!want)
      return llvm::toString(want.takeError());
    if (index >= inputs.size())
      return "no argument " + std::to_string(index);
    if (auto difference = compareTensors(inputs[index].view(), *want, accuracy))
      return "written argument " + std::to_string(index) + " " + *difference;
  }
  if (test.gauge.empty())
    return "";
  std::vector<TensorView> arguments;
  for (const HostTensor &input : inputs)
    arguments.push_back(input.view());
  return checkFactors(test, arguments, views).value_or("");
}

void ValuesRun::check(const ValueCase &test, llvm::ArrayRef<HostTensor> inputs,
                      llvm::ArrayRef<HostTensor> results,
                      llvm::StringRef also) {
  std::string difference = differences(test, inputs, results);
  if (difference.empty())
    difference = also.str();
  if (!difference.empty())
    return fail(test, difference);
  report.pass();
  // The factors themselves have no right values.
  for (size_t i = 0; i < test.gauge.size(); ++i)
    report.skip("gauge");
}

void ValuesRun::interpret(const ValueCase &test) {
  if (!interpreter::findOp(*test.schema))
    return report.skip("unknown to the interpreter");
  std::vector<TensorMeta> metas = metasOf(test), resultMetas;
  FakeCall call(*test.schema, test.args, metas);
  SymContext symbols;
  ShapeEnv env(symbols);
  FakeScope scope(env);
  scope.allowUnknownTruth();
  call.scope = &scope;
  if (llvm::failed(propagateCall(call)))
    return fail(test, call.message);
  for (const FakeResult &result : call.results)
    resultMetas.push_back(result.kind == FakeResult::Tensor
                              ? result.meta
                              : TensorMeta::contiguous(DType::F64, {}));
  std::vector<HostTensor> inputs, results;
  std::vector<interpreter::Tensor> operands;
  for (const StoredTensor &tensor : test.tensors) {
    llvm::Expected<HostTensor> input = data.copy(tensor);
    if (!input)
      return fail(test, llvm::toString(input.takeError()));
    operands.emplace_back(input->view());
    inputs.push_back(std::move(*input));
  }
  interpreter::CallResult computed =
      interpreter::evaluate(*test.schema, test.args, operands, resultMetas);
  if (!computed.error.empty())
    return fail(test, computed.error);
  if (!computed.unspecified.empty())
    return report.skip("unspecified");
  for (auto [i, tensor] : llvm::enumerate(computed.results)) {
    if (i < test.results.size() && isOutput(test.results[i])) {
      results.push_back(tensor.host());
      // What has no one value is PyTorch's.
      if (llvm::is_contained(computed.left, i)) {
        llvm::Expected<HostTensor> stored = data.copy(test.results[i].stored);
        if (!stored)
          return fail(test, llvm::toString(stored.takeError()));
        results.back() = std::move(*stored);
      }
    }
    if (i < test.schema->returns.size() && test.schema->returnsWritten(i))
      inputs[test.args[test.schema->aliasedArg(i)].operand] = tensor.host();
  }
  if (test.gauge.empty())
    check(test, inputs, results);
}

llvm::Error ft::conformance::runValues(llvm::StringRef file, llvm::StringRef op,
                                       const ValuesOptions &options,
                                       Report &report) {
  llvm::Expected<llvm::GlobPattern> pattern =
      llvm::GlobPattern::create(op.empty() ? "*" : op);
  if (!pattern)
    return pattern.takeError();
  llvm::StringRef base = file;
  base.consume_back(".jsonl");
  llvm::Expected<DataFile> data = DataFile::open((base + ".bin").str());
  if (!data)
    return data.takeError();
  ValuesRun run(*data, options, report);
  std::vector<ValueCase> tests;
  llvm::Error error =
      forEachLine(file, [&](llvm::StringRef line) -> llvm::Error {
        llvm::Expected<ValueCase> test = readValueCase(line);
        if (!test)
          return test.takeError();
        if (!pattern->match(test->op))
          return llvm::Error::success();
        bool none = llvm::none_of(test->gradients,
                                  [](auto &g) { return g.second.has_value(); });
        if (options.grad && none)
          report.skip(test->hasGradError ? "no derivative in PyTorch"
                                         : "no gradient");
        else if (run.admit(*test))
          tests.push_back(std::move(*test));
        return llvm::Error::success();
      });
  if (error)
    return error;
  if (options.compileTimes) {
    measureCompileTimes(tests, report);
    return llvm::Error::success();
  }
  if (options.interpreter) {
    for (const ValueCase &test : tests)
      run.interpret(test);
    return llvm::Error::success();
  }
  std::vector<const ValueCase *> pending;
  for (const ValueCase &test : tests)
    pending.push_back(&test);
  for (Batch rest = pending; !rest.empty();) {
    size_t size = std::min<size_t>(std::max(options.batch, 1u), rest.size());
    run.run(rest.take_front(size));
    rest = rest.drop_front(size);
  }
  return llvm::Error::success();
}
