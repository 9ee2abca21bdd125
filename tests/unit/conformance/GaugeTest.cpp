//===- GaugeTest.cpp - Factors that are unique up to sign or basis --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tests/conformance/Gauge.h"

#include "tests/unit/conformance/Tensors.h"

#include <gtest/gtest.h>

using namespace ft;
using namespace ft::conformance;

static OpCase call(llvm::StringRef op) {
  OpCase result;
  result.op = op.str();
  result.schema = SchemaTable::get().find(op);
  std::vector<Arg> tensors = {Arg::tensor(0)};
  result.args = llvm::cantFail(bindArguments(*result.schema, tensors, {}));
  return result;
}

// [[2, 0], [0, 3]] = Q R with Q = 1, and just as well with Q = -1.
TEST(Gauge, TakesEitherSignOfQr) {
  OpCase qr = call("linalg_qr.default");
  HostTensor a = f64({2, 2}, {2, 0, 0, 3});
  HostTensor q = f64({2, 2}, {-1, 0, 0, -1}), r = f64({2, 2}, {-2, 0, 0, -3});
  EXPECT_FALSE(checkFactors(qr, {a.view()}, {q.view(), r.view()}));
  HostTensor wrong = f64({2, 2}, {2, 0, 0, 3});
  EXPECT_TRUE(checkFactors(qr, {a.view()}, {q.view(), wrong.view()}));
}

TEST(Gauge, WantsEigenvectorsOfLengthOne) {
  OpCase eigh = call("_linalg_eigh.default");
  HostTensor a = f64({1, 2, 2}, {1, 9, 0, 4}); // the lower triangle counts
  HostTensor values = f64({1, 2}, {1, 4});
  HostTensor vectors = f64({1, 2, 2}, {-1, 0, 0, 1});
  HostTensor doubled = f64({1, 2, 2}, {-2, 0, 0, 1});
  EXPECT_FALSE(checkFactors(eigh, {a.view()}, {values.view(), vectors.view()}));
  EXPECT_TRUE(checkFactors(eigh, {a.view()}, {values.view(), doubled.view()}));
}

TEST(Gauge, RebuildsFromReflectors) {
  OpCase geqrf = call("geqrf.default");
  // One reflector with v = (1, 1) and tau = 1 swaps and negates: A = Q R with
  // Q = [[0, -1], [-1, 0]] and R = [[5, 6], [0, 7]].
  HostTensor a = f64({2, 2}, {0, -7, -5, -6});
  HostTensor packed = f64({2, 2}, {5, 6, 1, 7}), tau = f64({2}, {1, 0});
  EXPECT_FALSE(checkFactors(geqrf, {a.view()}, {packed.view(), tau.view()}));
}

// The eigenvalues of a rotation by a right angle are i and -i, in any order.
TEST(Gauge, TakesEigenvaluesInAnyOrder) {
  OpCase eigvals = call("linalg_eigvals.default");
  HostTensor a = f64({2, 2}, {0, -1, 1, 0});
  HostTensor values(DType::C128, {2});
  auto *parts = reinterpret_cast<double *>(values.bytes.data());
  parts[1] = -1;
  parts[3] = 1;
  EXPECT_FALSE(checkFactors(eigvals, {a.view()}, {values.view()}));
  parts[3] = -1;
  EXPECT_TRUE(checkFactors(eigvals, {a.view()}, {values.view()}));
}
