//===- ListSamplers.cpp - Arguments of transforms and of foreach ----------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tests/random/Sampler.h"

using namespace ft;
using namespace ft::random;

//===----------------------------------------------------------------------===//
// Fourier transforms
//===----------------------------------------------------------------------===//

static DType signalType(Sampler &s, bool complex) {
  static const DType kReal[] = {DType::F32, DType::F32, DType::F64, DType::I32};
  static const DType kComplex[] = {DType::C64, DType::C64, DType::C128};
  return complex ? s.rng.of(kComplex) : s.rng.of(kReal);
}

/// Distinct dims, one at least, in any order.
static Shape someDims(Sampler &s, int64_t rank) {
  Shape dims;
  for (int64_t d = 0; d < rank; ++d)
    if (s.rng.chance(60))
      dims.push_back(s.rng.chance(30) ? d - rank : d);
  if (dims.empty())
    dims.push_back(-1);
  if (s.rng.chance(30))
    std::reverse(dims.begin(), dims.end());
  return dims;
}

/// self, dim, normalization, and forward, onesided or last_dim_size.
static bool sampleTransform(Sampler &s) {
  bool real = s.schema.base == "_fft_r2c";
  Shape shape = s.shape(1, 3);
  s.set(0, s.tensor(signalType(s, !real), shape));
  Shape dims = someDims(s, int64_t(shape.size()));
  s.setInts(1, dims);
  s.setInt(2, s.rng.between(0, 2));
  if (s.schema.base == "_fft_c2r") {
    int64_t last = dims.back() < 0 ? dims.back() + shape.size() : dims.back();
    s.setInt(3, 2 * (shape[last] - 1) + s.rng.between(0, 1));
  } else {
    s.setBool(3);
  }
  return true;
}

/// self, n or s, dim, norm.
static bool samplePublicTransform(Sampler &s) {
  llvm::StringRef base = s.schema.base;
  bool realOnly = base.contains("rfft") && !base.contains("irfft");
  realOnly |= base.contains("ihfft");
  bool list = base.ends_with("2") || base.ends_with("n");
  Shape shape = s.shape(base.ends_with("2") ? 2 : 1, 3);
  s.set(0, s.tensor(signalType(s, !realOnly && s.rng.chance(70)), shape));
  int64_t rank = int64_t(shape.size());
  Shape dims = someDims(s, rank);
  if (!list) {
    if (s.rng.chance(50))
      s.setInt(1, s.rng.between(1, 12));
    s.setInt(2, s.dim(rank));
  } else {
    if (base.ends_with("n") && s.rng.chance(40))
      s.args[2] = Arg::none();
    else if (s.rng.chance(60))
      s.setInts(2, dims);
    else
      s.args[2] = s.schema.args[2].defaultValue;
    if (s.rng.chance(30)) {
      Shape lengths;
      for (size_t d = 0; d < dims.size(); ++d)
        lengths.push_back(s.rng.between(1, 8));
      s.setInts(1, lengths);
    }
  }
  static const char *const kNorms[] = {"forward", "backward", "ortho"};
  if (s.rng.chance(60))
    s.args[3] = Arg::string(s.rng.of(kNorms));
  return true;
}

//===----------------------------------------------------------------------===//
// Lists
//===----------------------------------------------------------------------===//

/// One to three entries, of sizes and mostly of a dtype of their own.
static bool sampleForeach(Sampler &s) {
  size_t count = s.rng.between(1, 3);
  DType dtype = s.rng.chance(70) ? s.floatType() : s.dtype();
  std::vector<Shape> shapes;
  std::vector<DType> types;
  for (size_t k = 0; k < count; ++k) {
    shapes.push_back(s.shape(0, 3));
    types.push_back(s.rng.chance(80) ? dtype : s.dtype());
  }
  for (unsigned i = 0; i < s.args.size(); ++i) {
    const SchemaArg &arg = s.schema.args[i];
    if (arg.type.kind == SchemaType::Tensor && arg.type.list) {
      std::vector<int> entries;
      for (size_t k = 0; k < count; ++k)
        entries.push_back(s.tensor(types[k], shapes[k]));
      s.setList(i, entries);
    } else if (arg.type.kind == SchemaType::Tensor) {
      s.set(i, s.tensor(dtype, {}));
    } else if (arg.type.kind == SchemaType::Scalar && arg.type.list) {
      std::vector<Arg> numbers;
      for (size_t k = 0; k < count; ++k)
        numbers.push_back(s.number(types[k]));
      s.args[i] = Arg::listOf(std::move(numbers));
    } else if (arg.type.kind == SchemaType::Scalar) {
      s.args[i] = arg.hasDefault && s.rng.chance(50) ? arg.defaultValue
                                                     : s.number(dtype);
    } else {
      s.args[i] = arg.defaultValue;
    }
  }
  return true;
}

llvm::ArrayRef<SamplerRow> ft::random::listSamplers() {
  static const std::vector<SamplerRow> rows = [] {
    std::vector<SamplerRow> all = {
        {"_fft_c2c _fft_r2c _fft_c2r", sampleTransform},
        {"fft_fft fft_fft2 fft_fftn fft_ifft fft_ifft2 fft_ifftn fft_rfft "
         "fft_rfft2 fft_rfftn fft_irfft fft_irfft2 fft_irfftn fft_hfft "
         "fft_hfft2 fft_hfftn fft_ihfft fft_ihfft2 fft_ihfftn",
         samplePublicTransform},
    };
    for (const Schema &schema : SchemaTable::get().all())
      if (schema.base.starts_with("_foreach_"))
        all.push_back({schema.name, sampleForeach}); // unless it has its own
    return all;
  }();
  return rows;
}
