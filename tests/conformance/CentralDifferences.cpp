//===- CentralDifferences.cpp - Whether a gradient is one -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tests/conformance/CentralDifferences.h"

#include "compiler/driver/Session.h"
#include "tests/conformance/CompileTimes.h"
#include "tests/conformance/GraphBuilder.h"

#include "llvm/Support/Format.h"

#include <cmath>
#include <random>

using namespace ft;
using namespace ft::conformance;

bool Slopes::agrees(double slope) const {
  // The recorded gradient is rounded to the dtype of the call, float32 mostly.
  return std::abs(slope - difference) <= 1e-4 * scale + 1e-9;
}

std::string Slopes::str() const {
  auto text = [](double slope) {
    std::string digits;
    llvm::raw_string_ostream(digits) << llvm::format("%.6g", slope);
    return digits;
  };
  return "central differences give " + text(difference) +
         ", the compiled gradient " + text(compiled) +
         ", the recorded gradient " + text(recorded);
}

bool ft::conformance::isOfHermitian(const Schema &schema,
                                    llvm::ArrayRef<Arg> args,
                                    llvm::StringRef argument) {
  llvm::StringRef base = schema.base;
  if (base.contains("eigh") || base.contains("eigvalsh") ||
      base == "cholesky" || base == "linalg_cholesky" ||
      base == "linalg_cholesky_ex" || base == "linalg_matrix_sqrth")
    return argument == "A" || argument == "self";
  int flag = schema.argIndex("hermitian");
  return flag >= 0 && args[flag].boolean && argument == schema.args[0].name;
}

void ft::conformance::makeHermitian(double *numbers,
                                    llvm::ArrayRef<int64_t> shape,
                                    bool isComplex) {
  using Number = std::complex<double>;
  size_t width = isComplex ? 2 : 1;
  auto n = static_cast<size_t>(shape.back());
  size_t matrices = n == 0 ? 0 : 1;
  for (int64_t size : shape.drop_back(2))
    matrices *= static_cast<size_t>(size);
  for (size_t matrix = 0; matrix < matrices; ++matrix) {
    double *at = numbers + matrix * n * n * width;
    auto get = [&](size_t i, size_t j) {
      const double *x = at + (i * n + j) * width;
      return Number(x[0], isComplex ? x[1] : 0);
    };
    auto set = [&](size_t i, size_t j, Number x) {
      double *to = at + (i * n + j) * width;
      to[0] = x.real();
      if (isComplex)
        to[1] = x.imag();
    };
    for (size_t i = 0; i < n; ++i)
      for (size_t j = 0; j <= i; ++j) {
        Number mean = (get(i, j) + std::conj(get(j, i))) / 2.0;
        set(i, j, mean);
        set(j, i, std::conj(mean));
      }
  }
}

/// The name of the argument that flat tensor `index` is (an item of).
static llvm::StringRef nameOfTensor(const ValueCase &test, unsigned index) {
  for (auto [formal, arg] : llvm::zip(test.schema->args, test.args)) {
    auto is = [&](const Arg &item) {
      return item.operand == static_cast<int>(index);
    };
    if (is(arg) || llvm::any_of(arg.list, is))
      return formal.name;
  }
  return "";
}

static DType wide(DType dtype) {
  if (isComplex(dtype))
    return DType::C128;
  return isFloating(dtype) ? DType::F64 : dtype;
}

static HostTensor widened(HostTensor tensor) {
  DType to = wide(tensor.dtype);
  if (to == tensor.dtype)
    return tensor;
  HostTensor result(to, tensor.shape);
  auto *numbers = reinterpret_cast<double *>(result.bytes.data());
  TensorView from = tensor.view();
  for (int64_t i = 0, n = from.numel(); i < n; ++i) {
    std::complex<double> x = from.at(i);
    if (to == DType::C128) {
      *numbers++ = x.real();
      *numbers++ = x.imag();
    } else {
      *numbers++ = x.real();
    }
  }
  return result;
}

/// x + h v, both wide.
static HostTensor moved(const HostTensor &x, const HostTensor &v, double h) {
  HostTensor sum = x;
  auto *numbers = reinterpret_cast<double *>(sum.bytes.data());
  const auto *steps = reinterpret_cast<const double *>(v.bytes.data());
  for (size_t i = 0; i < sum.bytes.size() / sizeof(double); ++i)
    numbers[i] += h * steps[i];
  return sum;
}

static HostTensor randomLike(const HostTensor &x, std::mt19937_64 &generator) {
  HostTensor v(x.dtype, x.shape);
  std::uniform_real_distribution<double> number(-1, 1);
  auto *numbers = reinterpret_cast<double *>(v.bytes.data());
  for (size_t i = 0; i < v.bytes.size() / sizeof(double); ++i)
    numbers[i] = number(generator);
  return v;
}

/// Re <a, b>; adds its absolute terms to `scale`.
static double inner(const TensorView &a, const TensorView &b,
                    double *scale = nullptr) {
  double sum = 0;
  for (int64_t i = 0, n = a.numel(); i < n; ++i) {
    double term = (std::conj(a.at(i)) * b.at(i)).real();
    sum += term;
    if (scale)
      *scale += std::abs(term);
  }
  return sum;
}

/// The call on wide tensors.
static ValueCase widened(const ValueCase &test) {
  ValueCase result = test;
  for (StoredTensor &tensor : result.tensors)
    tensor.dtype = wide(tensor.dtype);
  for (Arg &arg : result.args)
    if (arg.kind == Arg::DType)
      arg.dtype = wide(arg.dtype);
  return result;
}

llvm::Expected<std::vector<Slopes>>
ft::conformance::slopesOf(const ValueCase &test, const DataFile &data,
                          const GradientResults &gradients,
                          const ScratchFolder &scratch) {
  Options options;
  options.catchCrashes = true;
  Session session(options);
  GraphBuilder graph(session.context(), "slopes");
  addValueCall(graph, widened(test));
  if (!session.loadText(graph.finish(), "slopes") ||
      !session.compile(scratch.file("slopes" + llvm::Twine(test.id))))
    return llvm::createStringError("it does not compile in float64");
  auto model = CompiledModel::load(session.files().library);
  if (!model)
    return model.takeError();
  llvm::StringMap<size_t> outputs;
  const ft_model_info &info = (*model)->info();
  for (int32_t r = 0; r < info.num_outputs; ++r)
    outputs[info.outputs[r]->name] = static_cast<size_t>(r);

  std::vector<HostTensor> inputs;
  for (const StoredTensor &stored : test.tensors) {
    llvm::Expected<HostTensor> tensor = data.copy(stored);
    if (!tensor)
      return tensor.takeError();
    inputs.push_back(widened(std::move(*tensor)));
  }
  // Re <t, f(x + h v)>
  auto along = [&](size_t argument, const HostTensor &v,
                   double h) -> llvm::Expected<double> {
    std::vector<HostTensor> at = inputs; // a call may write its arguments
    at[argument] = moved(inputs[argument], v, h);
    auto results = (*model)->forward(at);
    if (!results)
      return results.takeError();
    double sum = 0;
    for (const auto &[result, stored] : test.cotangents) {
      llvm::Expected<TensorView> tangent = data.view(stored);
      if (!tangent)
        return tangent.takeError();
      auto found = outputs.find(resultName(test, result));
      if (found == outputs.end())
        return llvm::createStringError("a result is missing");
      sum += inner(*tangent, (*results)[found->second].view());
    }
    return sum;
  };
  constexpr double kStep = 1e-5;
  std::mt19937_64 generator(static_cast<uint64_t>(test.id));
  std::vector<Slopes> slopes;
  for (const auto &[argument, stored] : test.gradients) {
    if (!stored)
      continue;
    llvm::Expected<TensorView> recorded = data.view(*stored);
    if (!recorded)
      return recorded.takeError();
    HostTensor v = randomLike(inputs[argument], generator);
    if (isOfHermitian(*test.schema, test.args, nameOfTensor(test, argument)))
      makeHermitian(reinterpret_cast<double *>(v.bytes.data()), v.shape,
                    isComplex(v.dtype));
    llvm::Expected<double> up = along(argument, v, kStep),
                           down = along(argument, v, -kStep);
    if (!up || !down)
      return llvm::joinErrors(up.takeError(), down.takeError());
    Slopes slope;
    slope.difference = (*up - *down) / (2 * kStep);
    slope.recorded = inner(*recorded, v.view(), &slope.scale);
    if (const HostTensor *gradient = gradients.of(test, argument))
      slope.compiled = inner(gradient->view(), v.view(), &slope.scale);
    slopes.push_back(slope);
  }
  return slopes;
}
