//===- Sampler.h - Random arguments for one call ---------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_TESTS_RANDOM_SAMPLER_H
#define FORETRACE_TESTS_RANDOM_SAMPLER_H

#include "tests/random/Program.h"

namespace ft::random {

/// Which numbers a new input may hold.
struct Range {
  int64_t low = -5, high = 5;
};

/// Builds one call on values of a program, adding inputs where none fits. The
/// call need not be valid: its fake rule and the interpreter decide.
class Sampler {
public:
  Sampler(Rng &rng, Program &program, const Schema &schema)
      : rng(rng), program(program), schema(schema), args(schema.args.size()) {}

  Rng &rng;
  Program &program;
  const Schema &schema;
  std::vector<Arg> args;
  std::vector<int> operands;

  //===--- Values ---------------------------------------------------------===//
  /// A new input.
  int input(DType dtype, const Shape &shape);
  /// A new input that holds this.
  int constant(Tensor data);
  /// The same in any layout whose elements have a place each.
  int place(Tensor data);
  int integers(const Shape &shape, Range range, DType dtype = DType::I64);
  /// A new row-major input of numbers from `low` to `high`.
  int reals(DType dtype, const Shape &shape, double low, double high);
  /// A value of this dtype and shape: one that there is, or an input.
  int tensor(DType dtype, const Shape &shape);
  /// Any value of a rank from `low` to `high`; floating ones with `floats`.
  int any(int low = 0, int high = 5, bool floats = false);
  const TensorMeta &meta(int value) const { return program.values[value].meta; }
  Shape shapeOf(int value) const;
  DType dtypeOf(int value) const { return meta(value).dtype; }

  //===--- Arguments ------------------------------------------------------===//
  void set(unsigned i, int value);
  void setList(unsigned i, llvm::ArrayRef<int> values);
  void set(unsigned i, Arg arg) { args[i] = std::move(arg); }
  void setInt(unsigned i, int64_t value) { args[i] = Arg::integer(value); }
  void setInts(unsigned i, llvm::ArrayRef<int64_t> values);
  void setBool(unsigned i) { args[i] = Arg::truth(rng.chance(50)); }
  /// A number that fits a tensor of the dtype.
  Arg number(DType dtype);
  /// A dim of a tensor of `rank` dims, sometimes counted from the end.
  int64_t dim(int64_t rank);
  /// What the name and the type of the argument suggest, for a call whose
  /// first tensor is `self`.
  void guess(unsigned i, int self);
  /// `guess` for every argument from `first` on that is not set.
  void guessRest(unsigned first, int self);

  //===--- Choices --------------------------------------------------------===//
  int64_t size();
  Shape shape(int low, int high);
  DType dtype();
  DType floatType();
  /// A shape that broadcasts with `shape` to it.
  Shape smaller(const Shape &shape);

private:
  TensorMeta layout(DType dtype, const Shape &shape);
};

/// Fills the arguments of a call of `schema`; false where none can be found.
using SampleFunction = bool (*)(Sampler &);
/// The sampler of an op: its own, or its family's.
SampleFunction samplerOf(const Schema &schema);
/// Whether it is not the general one.
bool hasOwnSampler(const Schema &schema);
/// Whether it is of gradientSamplers().
bool isGradientSampled(const Schema &schema);
/// Whether it is of linalgSamplers() or requestSamplers(): see Program.h.
bool isOnRequest(const Schema &schema);

struct SamplerRow {
  llvm::StringRef names;
  SampleFunction sample;
};
llvm::ArrayRef<SamplerRow> shapeSamplers();
llvm::ArrayRef<SamplerRow> networkSamplers();
llvm::ArrayRef<SamplerRow> indexSamplers();
llvm::ArrayRef<SamplerRow> listSamplers();
llvm::ArrayRef<SamplerRow> statisticsSamplers();
llvm::ArrayRef<SamplerRow> convSamplers();
llvm::ArrayRef<SamplerRow> lossSamplers();
llvm::ArrayRef<SamplerRow> productSamplers();
llvm::ArrayRef<SamplerRow> rnnSamplers();
llvm::ArrayRef<SamplerRow> stepSamplers();
llvm::ArrayRef<SamplerRow> linalgSamplers();
llvm::ArrayRef<SamplerRow> requestSamplers();
/// Of gradients' operators: what a forward call gives them is no free operand.
llvm::ArrayRef<SamplerRow> gradientSamplers();

} // namespace ft::random

#endif // FORETRACE_TESTS_RANDOM_SAMPLER_H
