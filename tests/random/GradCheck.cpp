//===- GradCheck.cpp - Derivatives against central differences ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tests/random/GradCheck.h"

#include "compiler/autograd/DerivativeTable.h"
#include "compiler/driver/Session.h"
#include "dialects/ft/FtDialect.h"
#include "tests/conformance/CentralDifferences.h"

#include <cmath>

using namespace ft;
using namespace ft::random;
using namespace ft::conformance;

static std::string nameOf(const Program &program) {
  return "p" + std::to_string(program.seed);
}

static bool isFloat(DType dtype) {
  return isFloating(dtype) || isComplex(dtype);
}

/// Whether the derivative by an input is asked for.
static bool isMoved(const Program &program, int input) {
  const Step &step = program.steps.front();
  for (auto [k, operand] : llvm::enumerate(step.operands))
    if (operand == input && !asksGradient(step, k))
      return false;
  return true;
}

/// Whether the argument is a Cholesky factor: one triangle is read, and the
/// derivative is that by a matrix that has no other.
static bool isTriangle(const Schema &schema, llvm::StringRef argument) {
  return (schema.base == "cholesky_solve" && argument == "input2") ||
         (schema.base == "_cholesky_solve_helper" && argument == "A") ||
         (schema.base == "cholesky_inverse" && argument == "self");
}

static void makeTriangular(Tensor &v, const Step &step) {
  int flag = step.schema->argIndex("upper");
  bool upper = flag >= 0 && step.args[flag].boolean;
  int64_t n = v.shape.back();
  for (int64_t i = 0; i < v.numel(); ++i) {
    int64_t row = i / n % n, column = i % n;
    if (upper ? row > column : row < column)
      v.setComplex(i, 0);
  }
}

/// The gradient of an alignment loss is that with a log_softmax before it:
/// along other directions than those that keep the sums of the probabilities it
/// differs.
static void keepSums(Tensor &v, const Tensor &logs) {
  int64_t classes = v.shape.back();
  for (int64_t row = 0; row < v.numel(); row += classes) {
    double sum = 0;
    for (int64_t i = row; i < row + classes; ++i)
      sum += std::exp(logs.real(i)) * v.real(i);
    for (int64_t i = row; i < row + classes; ++i)
      v.setReal(i, v.real(i) - sum);
  }
}

/// A direction of the arguments that the derivative is defined along.
static void makeAllowed(const Program &program, int input, Tensor &v) {
  const Step &step = program.steps.front();
  if (!isMoved(program, input)) {
    v = Tensor(v.dtype, v.shape);
    return;
  }
  for (auto [formal, arg] : llvm::zip(step.schema->args, step.args)) {
    if (arg.kind != Arg::Tensor || step.operands[arg.operand] != input)
      continue;
    if (formal.name == "log_probs")
      keepSums(v, program.values[input].data);
    if (isTriangle(*step.schema, formal.name))
      makeTriangular(v, step);
    if (!isOfHermitian(*step.schema, step.args, formal.name))
      continue;
    HostTensor host = v.host();
    makeHermitian(reinterpret_cast<double *>(host.bytes.data()), host.shape,
                  isComplex(host.dtype));
    v = Tensor(host.view());
  }
  shareElements(program.values[input].meta, v);
}

static std::string diagnosticsOf(const Session &session) {
  std::string why;
  for (const Diagnostic &diagnostic : session.diagnostics())
    why += (why.empty() ? "" : "\n") + diagnostic.render();
  return why.empty() ? "no diagnostic" : why;
}

//===----------------------------------------------------------------------===//
// The module
//===----------------------------------------------------------------------===//

/// The strides that `meta` has, of the sizes `sizes`: dims in their order of
/// memory, without gaps, and those of stride 0.
static Dims stridesLike(const TensorMeta &meta, const Dims &sizes) {
  llvm::SmallVector<size_t> order;
  for (size_t d = 0; d < sizes.size(); ++d)
    if (!meta.strides[d].is(0))
      order.push_back(d);
  llvm::sort(order, [&](size_t a, size_t b) {
    auto key = [&](size_t d) { return std::pair(-meta.strides[d].value(), d); };
    return key(a) < key(b);
  });
  Dims strides(sizes.size(), Dim(0));
  Dim next = 1;
  for (size_t d : llvm::reverse(order)) {
    strides[d] = next;
    next = next * sizes[d];
  }
  return strides;
}

/// Symbols for the sizes above 1: equal sizes of a program have one.
static TensorMeta withSymbols(GraphBuilder &graph, SymContext &symbols,
                              const Program &program, const TensorMeta &meta,
                              std::set<int64_t> &known) {
  TensorMeta result = meta;
  for (Dim &size : result.sizes) {
    if (size.value() < 2)
      continue;
    std::string name =
        "s" + std::to_string(size.value()) + "_" + nameOf(program);
    if (known.insert(size.value()).second)
      graph.addSymbol(name, {2, int64_t(1) << 20}, size.value());
    size = Dim(symbols.symbol(name));
  }
  result.strides = stridesLike(meta, result.sizes);
  return result;
}

std::string GradCheck::build(Session &session, Batch batch) {
  GraphBuilder graph(session.context(), "gradcheck");
  SymContext &symbols =
      session.context().getOrLoadDialect<FtDialect>()->symbolContext();
  for (const Program *program : batch) {
    std::string prefix = nameOf(*program);
    std::vector<mlir::Value> built(program->values.size());
    std::set<int64_t> known;
    const Step &step = program->steps.front();
    for (int i : program->inputs()) {
      std::string name = prefix + "_in" + std::to_string(i);
      TensorMeta meta = program->values[i].meta;
      if (symbolic)
        meta = withSymbols(graph, symbols, *program, meta, known);
      built[i] = graph.addInput(name, "input", name, meta);
      if (isFloat(meta.dtype) && isMoved(*program, i))
        graph.requireGradient(built[i]);
    }
    llvm::SmallVector<mlir::Value> operands;
    for (int operand : step.operands)
      operands.push_back(built[operand]);
    mlir::Operation *op = graph.addCall(*step.schema, step.args, operands,
                                        step.results.size(), prefix + "_op");
    // Results that no gradient flows through are not asked for.
    uint32_t constant = derivativeOf(*step.schema).constantResults;
    for (auto [r, value] : llvm::enumerate(step.results))
      if (r >= 32 || !(constant >> r & 1))
        graph.addOutput(op->getResult(r),
                        prefix + "_out" + std::to_string(value));
  }
  return graph.finish();
}

/// The joint graph of `text` as a program of its own: tangents are inputs that
/// require gradients, gradients are outputs. Empty if it cannot be made, which
/// the first session has found out.
std::string GradCheck::joint(const std::string &text) {
  Options options;
  options.catchCrashes = true;
  options.joint = true;
  Session session(options);
  if (!session.loadText(text, "gradcheck") || !session.runTo(Stage::Autograd))
    return "";
  mlir::ModuleOp module = session.module();
  module.walk([&](mlir::Operation *op) {
    if (const Schema *schema = schemaOf(op))
      inJointGraphs.insert(schema->name.str());
  });
  auto function = module.lookupSymbol<mlir::func::FuncOp>("forward");
  // Statistics that the call updates have no derivative.
  for (unsigned r = function.getNumResults(); r-- > 0;) {
    auto role = function.getResultAttrOfType<mlir::StringAttr>(r, names::kRole);
    if (!role || !role.getValue().ends_with("_mutation"))
      continue;
    function.front().getTerminator()->eraseOperand(r);
    (void)function.eraseResult(r);
  }
  mlir::Builder b(module.getContext());
  auto renamed = [&](mlir::StringAttr name) {
    llvm::StringRef text = name.getValue();
    if (text.consume_front("tangent_"))
      return b.getStringAttr(text + "_t");
    if (text.consume_front("gradient_"))
      return b.getStringAttr(text + "_g");
    return name;
  };
  for (unsigned n = 0; n < function.getNumArguments(); ++n) {
    auto own = function.getArgAttrOfType<mlir::StringAttr>(n, names::kName);
    bool moves = function.getArgAttr(n, names::kRequiresGrad) ||
                 (own && own.getValue().starts_with("tangent_"));
    for (llvm::StringRef key : {names::kName, names::kTarget})
      if (auto name = function.getArgAttrOfType<mlir::StringAttr>(n, key))
        function.setArgAttr(n, key, renamed(name));
    function.setArgAttr(n, names::kKind, b.getStringAttr("input"));
    auto type = mlir::cast<mlir::TensorType>(function.getArgument(n).getType());
    if (moves &&
        mlir::isa<mlir::FloatType, mlir::ComplexType>(type.getElementType()))
      function.setArgAttr(n, names::kRequiresGrad, b.getUnitAttr());
  }
  for (unsigned r = 0; r < function.getNumResults(); ++r) {
    if (auto name =
            function.getResultAttrOfType<mlir::StringAttr>(r, names::kName))
      function.setResultAttr(r, names::kName, renamed(name));
    function.setResultAttr(r, names::kRole, b.getStringAttr("output"));
    function.removeResultAttr(r, b.getStringAttr(names::kTarget));
  }
  module->removeAttr(names::kStage);
  return session.print();
}

//===----------------------------------------------------------------------===//
// One run
//===----------------------------------------------------------------------===//

namespace {
/// The program that a value belongs to, and what it is there: "p12", "in3".
struct ValueName {
  llvm::StringRef program, what;
  bool added = false; ///< a tangent or a gradient

  explicit ValueName(llvm::StringRef name) {
    added = name.consume_front("tangent_") || name.consume_front("gradient_");
    std::tie(program, what) = name.split('_');
  }
};

using Tensors = std::vector<HostTensor>;
} // namespace

static Tensor randomLike(Rng &rng, DType dtype, llvm::ArrayRef<int64_t> shape) {
  Tensor tensor(dtype, shape);
  for (int64_t i = 0, n = tensor.numel(); i < n && isFloat(dtype); ++i) {
    double real = rng.unit() * 2 - 1;
    if (isComplex(dtype))
      tensor.setComplex(i, {real, rng.unit() * 2 - 1});
    else
      tensor.setReal(i, real);
  }
  return tensor;
}

/// x + h v
static HostTensor moved(const Tensor &x, const Tensor &v, double h) {
  if (!isFloat(x.dtype))
    return x.host();
  Tensor sum(x.dtype, x.shape);
  for (int64_t i = 0, n = x.numel(); i < n; ++i)
    sum.setComplex(i, x.complex(i) + h * v.complex(i));
  return sum.host();
}

static bool isFinite(interpreter::Complex x) {
  return std::isfinite(x.real()) && std::isfinite(x.imag());
}

std::string GradCheck::judge(Batch batch, const std::string &library) {
  auto loaded = CompiledModel::load(library);
  if (!loaded)
    return llvm::toString(loaded.takeError());
  const ft_model_info &info = (*loaded)->info();
  constexpr double kStep = 1e-5;
  std::map<std::string, const Program *> byName;
  for (const Program *program : batch)
    byName[nameOf(*program)] = program;

  std::vector<Tensor> x, v;
  Rng rng(batch.front()->seed);
  std::vector<size_t> tangents;
  for (int32_t i = 0; i < info.num_inputs; ++i) {
    const ft_value_info &input = *info.inputs[i];
    ValueName name(input.name);
    const Program *program = byName[name.program.str()];
    llvm::StringRef what = name.what;
    unsigned index;
    if (!name.added && what.consume_front("in") &&
        !what.getAsInteger(10, index)) {
      x.push_back(program->values[index].data);
    } else {
      // A tangent of this run, or one of the first that is an input now; both
      // have the shape of the value that they belong to.
      what = name.what;
      what.consume_back("_t");
      what.consume_back("_g");
      what.consume_front("in") || what.consume_front("out");
      (void)what.getAsInteger(10, index);
      Shape shape;
      for (const Dim &size : program->values[index].meta.sizes)
        shape.push_back(size.value());
      DType dtype = program->values[index].meta.dtype;
      if (name.added)
        tangents.push_back(x.size());
      x.push_back(randomLike(rng, dtype, shape));
    }
    v.push_back(randomLike(rng, x.back().dtype, x.back().shape));
    if (name.added)
      v.back() = Tensor(x.back().dtype, x.back().shape);
    else if (llvm::StringRef own = name.what;
             own.consume_front("in") && !own.getAsInteger(10, index))
      makeAllowed(*program, static_cast<int>(index), v.back());
  }
  auto runAt = [&](double h) -> llvm::Expected<Tensors> {
    // Each run is the first of an instance: it draws the same numbers.
    ft_load_options options = ft_load_options_init();
    options.seed = batch.front()->seed;
    auto model = CompiledModel::load(library, &options);
    if (!model)
      return model.takeError();
    Tensors inputs;
    for (auto [at, direction] : llvm::zip(x, v))
      inputs.push_back(moved(at, direction, h));
    return (*model)->forward(inputs);
  };

  // What moves smoothly may be asked for: the tangent of all else is 0.
  std::vector<Tensors> runs;
  for (double h : {0.0, kStep, -kStep, kStep / 2, -kStep / 2}) {
    llvm::Expected<Tensors> results = runAt(h);
    if (!results)
      return llvm::toString(results.takeError());
    runs.push_back(std::move(*results));
  }
  std::map<std::string, size_t> outputs;
  for (int32_t r = 0; r < info.num_outputs; ++r)
    if (!ValueName(info.outputs[r]->name).added)
      outputs[info.outputs[r]->name] = r;
  struct Sums {
    double difference = 0, halved = 0, gradient = 0, scale = 0;
    int64_t asked = 0;
    bool poisoned = false, finite = true;
  };
  std::map<std::string, Sums> sums;
  for (size_t n : tangents) {
    llvm::StringRef name = info.inputs[n]->name;
    name.consume_front("tangent_");
    Sums &sum = sums[ValueName(name).program.str()];
    std::vector<TensorView> at;
    for (const Tensors &run : runs)
      at.push_back(run[outputs[name.str()]].view());
    for (int64_t i = 0, count = x[n].numel(); i < count; ++i) {
      interpreter::Complex t = x[n].complex(i);
      bool smooth = true;
      for (const TensorView &run : at)
        smooth &= isFinite(run.at(i));
      sum.finite &= smooth;
      interpreter::Complex second =
          at[1].at(i) + at[2].at(i) - 2.0 * at[0].at(i);
      smooth &= std::abs(second) < 1e-8 * (1 + std::abs(at[0].at(i)));
      if (!smooth) {
        x[n].setComplex(i, 0);
        continue;
      }
      ++sum.asked;
      auto slope = [&](int k, double h) {
        return (std::conj(t) * (at[k].at(i) - at[k + 1].at(i))).real() /
               (2 * h);
      };
      double d = slope(1, kStep);
      sum.difference += d;
      sum.halved += slope(3, kStep / 2);
      // Differences of large numbers are off by their last digits.
      sum.scale += std::abs(d) + 1e-4 * std::abs(t) * std::abs(at[0].at(i));
    }
  }
  llvm::Expected<Tensors> results = runAt(0);
  if (!results)
    return llvm::toString(results.takeError());
  std::map<std::string, size_t> inputs;
  for (int32_t i = 0; i < info.num_inputs; ++i)
    inputs[info.inputs[i]->name] = i;
  for (int32_t r = 0; r < info.num_outputs; ++r) {
    llvm::StringRef name = info.outputs[r]->name;
    if (!name.consume_front("gradient_"))
      continue;
    Sums &sum = sums[ValueName(name).program.str()];
    TensorView g = (*results)[r].view();
    const Tensor &direction = v[inputs[name.str()]];
    for (int64_t i = 0, n = direction.numel(); i < n; ++i) {
      interpreter::Complex value = g.at(i);
      sum.poisoned |= !isFinite(value);
      double part = (std::conj(value) * direction.complex(i)).real();
      sum.gradient += part;
      sum.scale += std::abs(part);
    }
  }
  for (const Program *program : batch) {
    const Sums &sum = sums[nameOf(*program)];
    constexpr double kTolerance = 2e-6;
    double allowed = kTolerance * (sum.scale + 1e-3);
    bool settled = std::abs(sum.difference - sum.halved) <= allowed;
    // 0 times the slope of an element that is not asked for is NaN.
    bool open = sum.poisoned && !sum.finite;
    if (sum.asked == 0 || open || !settled) {
      ++undecided;
      continue;
    }
    ++checked;
    ++calls[program->steps.front().schema->name.str()];
    if (!(std::abs(sum.difference - sum.gradient) <= allowed))
      settle(*program, "the gradient gives " + std::to_string(sum.gradient) +
                           ", the difference " +
                           std::to_string(sum.difference));
  }
  return "";
}

//===----------------------------------------------------------------------===//
// Batches
//===----------------------------------------------------------------------===//

std::string GradCheck::attempt(Batch batch) {
  Options options;
  options.catchCrashes = true;
  options.joint = true;
  Session session(options);
  std::string text = build(session, batch);
  if (twice) {
    if (std::string again = joint(text); !again.empty())
      text = again;
  }
  std::string base = scratch.file("gradcheck" + llvm::Twine(artefacts++));
  if (!session.loadText(text, "gradcheck") || !session.compile(base))
    return diagnosticsOf(session);
  return judge(batch, session.files().library);
}

void GradCheck::settle(const Program &program, const std::string &why) {
  bool refused = false;
  // What is not done by name, what has no derivative or not for this dtype, and
  // calls whose results do not depend on any input.
  for (const char *id :
       {"[FT0303]", "[FT0501]", "[FT0502]", "[FT0801]", "[FT0802]"})
    refused |= llvm::StringRef(why).contains(id);
  if (symbolic)
    refused |= llvm::StringRef(why).contains("[FT03");
  ++(refused ? unsupported : failed);
  auto &listener = refused ? onUnsupported : onFailure;
  if (listener)
    listener(program, why);
}

void GradCheck::run(Batch batch) {
  if (batch.empty())
    return;
  std::string why = attempt(batch);
  if (why.empty())
    return;
  if (batch.size() == 1)
    return settle(*batch.front(), why);
  // Diagnostics name the place, or only the operator.
  std::vector<const Program *> named, rest;
  for (const Program *program : batch) {
    std::string op = program->steps.front().schema->name.str();
    bool is = llvm::StringRef(why).contains(nameOf(*program) + "_") ||
              llvm::StringRef(why).contains(op);
    (is ? named : rest).push_back(program);
  }
  if (!named.empty() && !rest.empty()) {
    run(Batch(rest));
    return run(Batch(named));
  }
  run(batch.take_front(batch.size() / 2));
  run(batch.drop_front(batch.size() / 2));
}

void GradCheck::run(llvm::ArrayRef<Program> programs) {
  std::vector<const Program *> batch;
  for (const Program &program : programs)
    if (!program.steps.empty())
      batch.push_back(&program);
  run(Batch(batch));
}
