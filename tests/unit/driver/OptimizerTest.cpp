//===- OptimizerTest.cpp - Updates of parameters ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// tests/data/optimizers has what torch.optim makes of parameters of all dtypes
// in some steps, for optimizers with hyperparameters of many kinds.

#include "compiler/driver/HostArray.h"
#include "compiler/driver/Session.h"
#include "tests/unit/runtime/FakeModels.h"

#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/MemoryBuffer.h"

#include <gtest/gtest.h>

using namespace ft;

static const std::string kData = FORETRACE_SOURCE_DIR "/tests/data/optimizers/";

/// The floats of 16 bits, by their semantics.
static const llvm::fltSemantics &semantics(DType dtype) {
  return dtype == DType::F16 ? llvm::APFloat::IEEEhalf()
                             : llvm::APFloat::BFloat();
}

/// How many real numbers an array has, and number `i` of them.
static size_t countOf(const HostArray &array) {
  return size_t(array.elements()) * (isComplex(array.dtype) ? 2 : 1);
}
static double read(const HostArray &array, size_t i) {
  const uint8_t *data = array.bytes().data();
  switch (array.dtype) {
  case DType::F64:
    return reinterpret_cast<const double *>(data)[i];
  case DType::F32:
  case DType::C64:
    return double(reinterpret_cast<const float *>(data)[i]);
  default:
    return llvm::APFloat(
               semantics(array.dtype),
               llvm::APInt(16, reinterpret_cast<const uint16_t *>(data)[i]))
        .convertToDouble();
  }
}
static void write(HostArray &array, size_t i, double value) {
  uint8_t *data = array.bytes().data();
  switch (array.dtype) {
  case DType::F64:
    reinterpret_cast<double *>(data)[i] = value;
    break;
  case DType::F32:
  case DType::C64:
    reinterpret_cast<float *>(data)[i] = float(value);
    break;
  default: {
    bool loses = false;
    llvm::APFloat rounded(value);
    rounded.convert(semantics(array.dtype), llvm::APFloat::rmNearestTiesToEven,
                    &loses);
    reinterpret_cast<uint16_t *>(data)[i] =
        uint16_t(rounded.bitcastToAPInt().getZExtValue());
  }
  }
}

/// What two ways to compute in float32, or a last rounding, may differ by.
static double tolerance(DType dtype) {
  switch (dtype) {
  case DType::F64:
    return 1e-13;
  case DType::F16:
    return 1.1e-3;
  case DType::BF16:
    return 9e-3;
  default:
    return 3e-6;
  }
}

namespace {
/// A model of tests/data/optimizers, with arrays for all that it owns not.
class Optimizer : public test::ModelTest {
protected:
  using Arrays = std::vector<std::unique_ptr<HostArray>>;

  void compile(const std::string &optimizer) {
    Options options;
    options.training = true;
    options.optimizer = optimizer;
    Session session(options);
    ASSERT_TRUE(session.load(kData + "parameters.pt2") &&
                session.compile(path(optimizer)))
        << session.diagnostics().front().render();
    auto opened = LoadedModel::open(session.files().library);
    ASSERT_TRUE(bool(opened)) << test::messageOf(opened.takeError());
    model = std::move(*opened);
    ASSERT_EQ(test::messageOf(model->load()), "");
    const ft_model_info &info = model->info();
    values = arrays(info.state, info.num_state);
    gradients = arrays(info.state, info.num_state);
    state = arrays(info.optimizer, info.num_optimizer);
    hypers = *info.optimizer_defaults;
  }

  static Arrays arrays(const ft_value_info *const *infos, int32_t count) {
    Arrays all;
    for (int32_t i = 0; i < count; ++i)
      all.push_back(std::make_unique<HostArray>(
          *dtypeFromDLPack(infos[i]->dtype),
          llvm::ArrayRef<int64_t>(infos[i]->sizes, size_t(infos[i]->ndim))));
    return all;
  }
  static std::vector<DLTensor> views(const Arrays &all) {
    std::vector<DLTensor> tensors;
    for (const auto &array : all)
      tensors.push_back(array->view());
    return tensors;
  }

  std::string init() {
    std::vector<DLTensor> tensors = views(state);
    return test::messageOf(model->api().init_optimizer(
        model->instance(), tensors.data(), int32_t(tensors.size())));
  }
  std::string update() {
    std::vector<DLTensor> parameters = views(values), grads = views(gradients),
                          tensors = views(state);
    ft_train_call call = {};
    call.struct_size = sizeof call;
    call.phase = FT_TRAIN_UPDATE;
    call.num_state = int32_t(parameters.size());
    call.state = parameters.data();
    call.gradients = grads.data();
    call.optimizer = tensors.data();
    call.optimizer_options = &hypers;
    return test::messageOf(model->api().train(model->instance(), &call));
  }

  void set(Arrays &to, const llvm::json::Object &from) {
    const ft_model_info &info = model->info();
    for (int32_t i = 0; i < info.num_state; ++i) {
      const llvm::json::Array &numbers = *from.getArray(info.state[i]->name);
      ASSERT_EQ(numbers.size(), countOf(*to[size_t(i)]));
      for (size_t n = 0; n < numbers.size(); ++n)
        write(*to[size_t(i)], n, *numbers[n].getAsNumber());
    }
  }
  void expect(const Arrays &have, const ft_value_info *const *infos,
              int32_t count, const llvm::json::Object &want) {
    for (int32_t i = 0; i < count; ++i) {
      const llvm::json::Array *numbers = want.getArray(infos[i]->name);
      if (!numbers)
        continue; // the count of steps, and what torch.optim does not keep
      const HostArray &array = *have[size_t(i)];
      for (size_t n = 0; n < numbers->size(); ++n) {
        double right = *(*numbers)[n].getAsNumber();
        EXPECT_NEAR(read(array, n), right,
                    tolerance(array.dtype) * std::max(1.0, std::abs(right)))
            << infos[i]->name << " " << n;
      }
    }
  }
  void replay(const llvm::json::Object &recorded);

  std::unique_ptr<LoadedModel> model;
  Arrays values, gradients, state;
  ft_optimizer_options hypers = {};
};
} // namespace

void Optimizer::replay(const llvm::json::Object &recorded) {
  const ft_model_info &info = model->info();
  hypers = *info.optimizer_defaults;
  const llvm::json::Object &given = *recorded.getObject("hyperparameters");
#define FT_HYPER_REAL(field)                                                   \
  if (auto value = given.getNumber(#field))                                    \
    hypers.field = *value;
#define FT_HYPER_FLAG(field)                                                   \
  if (auto value = given.getNumber(#field))                                    \
    hypers.field = *value != 0;
#include "runtime/src/hyperparameters.def"
  for (auto &array : state)
    llvm::fill(array->bytes(), uint8_t(0x55));
  ASSERT_EQ(init(), "");
  set(values, *recorded.getObject("start"));
  for (const llvm::json::Value &step : *recorded.getArray("gradients")) {
    set(gradients, *step.getAsObject());
    ASSERT_EQ(update(), "");
  }
  expect(values, info.state, info.num_state, *recorded.getObject("end"));
  expect(state, info.optimizer, info.num_optimizer,
         *recorded.getObject("state"));
}

TEST_F(Optimizer, UpdatesAreThoseOfTorchOptim) {
  auto text = llvm::MemoryBuffer::getFile(kData + "steps.json");
  ASSERT_TRUE(bool(text));
  auto cases = llvm::json::parse((*text)->getBuffer());
  ASSERT_TRUE(bool(cases)) << test::messageOf(cases.takeError());
  std::string compiled;
  for (const llvm::json::Value &one : *cases->getAsArray()) {
    const llvm::json::Object &recorded = *one.getAsObject();
    std::string name = recorded.getString("optimizer")->str();
    if (name != compiled)
      compile(name);
    compiled = name;
    SCOPED_TRACE(llvm::formatv("{0}", *recorded.get("hyperparameters")).str());
    replay(recorded);
  }
}

TEST_F(Optimizer, SaysWhatItsStateIs) {
  compile("adam");
  const ft_model_info &info = model->info();
  EXPECT_STREQ(info.optimizer_name, "adam");
  ASSERT_EQ(info.num_optimizer, 13); // steps, and two for each parameter
  EXPECT_STREQ(info.optimizer[0]->name, "step");
  EXPECT_EQ(info.optimizer[0]->dtype.code, kDLInt);
  EXPECT_STREQ(info.optimizer[1]->name, "exp_avg.w32");
  EXPECT_STREQ(info.optimizer[2]->name, "exp_avg_sq.w32");
  EXPECT_EQ(info.optimizer[2]->ndim, 2);
  EXPECT_EQ(info.optimizer_defaults->struct_size, sizeof hypers);
  EXPECT_EQ(hypers.lr, 1e-3);
  EXPECT_EQ(hypers.beta2, 0.999);
  EXPECT_EQ(hypers.eps, 1e-8);
}

TEST_F(Optimizer, TakesTensorsOfAnyStrides) {
  compile("momentum");
  std::vector<DLTensor> parameters = views(values), grads = views(gradients),
                        tensors = views(state);
  ASSERT_EQ(init(), "");
  // The first parameter in column order: rows of 3 become columns.
  float transposed[18];
  for (int i = 0; i < 18; ++i) {
    transposed[i] = float(i);
    write(*gradients[0], size_t(i), 1);
  }
  int64_t strides[] = {1, 3};
  parameters[0].data = transposed;
  parameters[0].strides = strides;
  hypers.lr = 0.5;
  ft_train_call call = {};
  call.struct_size = sizeof call;
  call.phase = FT_TRAIN_UPDATE;
  call.num_state = int32_t(parameters.size());
  call.state = parameters.data();
  call.gradients = grads.data();
  call.optimizer = tensors.data();
  call.optimizer_options = &hypers;
  ASSERT_EQ(test::messageOf(model->api().train(model->instance(), &call)), "");
  for (int i = 0; i < 18; ++i)
    EXPECT_EQ(transposed[i], float(i) - 0.5f);
}

TEST_F(Optimizer, MistakesAreSentences) {
  compile("momentum");
  EXPECT_EQ(test::messageOf(
                model->api().init_optimizer(model->instance(), nullptr, 2)),
            "init_optimizer: expected 7 tensors, got 0");
  ASSERT_EQ(init(), "");
  hypers.lr = -1;
  EXPECT_EQ(update(), "train: lr is -1, must be at least 0 and finite");
  hypers.lr = 1;
  hypers.nesterov = 1;
  hypers.dampening = 0.5;
  EXPECT_EQ(update(), "train: nesterov needs momentum and no dampening");
  hypers.nesterov = 2;
  EXPECT_EQ(update(), "train: nesterov and maximize are 0 or 1");
  hypers.nesterov = 0;
  hypers.beta1 = 1;
  EXPECT_EQ(update(), "train: beta1 is 1, must be at least 0 and less than 1");
  hypers.beta1 = 0;
  EXPECT_EQ(update(), "");
  hypers.struct_size = 4;
  EXPECT_NE(update(), "");
}
