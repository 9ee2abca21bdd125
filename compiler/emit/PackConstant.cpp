//===- PackConstant.cpp - Lays constants out for the kernels ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/emit/PackConstant.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/MathExtras.h"

#include <cstring>

namespace ft {

namespace {

constexpr int64_t kPieceBytes = 4 << 20;
/// Elements of a row between two turns of the dim that is contiguous in the
/// source: the lines that are live at a time.
constexpr int64_t kRowBlock = 64;

using Index = llvm::SmallVector<int64_t, 8>;

struct Bytes16 {
  uint64_t halves[2];
};

/// Gathers boxes of one constant.
class Gather {
public:
  explicit Gather(const Constant &constant);

  const Index &dims() const { return dims_; }
  /// Writes the box [lo, hi), which must be contiguous in the packed array.
  void run(llvm::ArrayRef<int64_t> lo, llvm::ArrayRef<int64_t> hi, char *out);

private:
  void loop(size_t depth);
  void rows();
  void row(int64_t lo, int64_t hi, char *out);
  template <typename T>
  static void copy(char *out, const char *in, int64_t step, int64_t n);

  const Constant &constant_;
  Index dims_;
  size_t last_;
  /// coef_[j][i], and its product with the source strides, summed: how far
  /// the source moves, in elements, for a step of packed dim i.
  std::vector<std::vector<int64_t>> coef_;
  Index step_;

  // The box that is being gathered.
  Index lo_, hi_, outStep_;
  size_t inner_; // the dim that turns inside row blocks, or last_ for none
  Index index_;  // source logical index for the current packed index
  char *out_ = nullptr;
};

Gather::Gather(const Constant &constant) : constant_(constant) {
  size_t sourceRank = constant.sizes.size();
  if (constant.layout.dims.empty()) {
    dims_.assign(constant.sizes.begin(), constant.sizes.end());
    coef_.assign(sourceRank, std::vector<int64_t>(sourceRank, 0));
    for (size_t j = 0; j < sourceRank; ++j)
      coef_[j][j] = 1;
  } else {
    dims_.assign(constant.layout.dims.begin(), constant.layout.dims.end());
    coef_ = constant.layout.coef;
  }
  if (dims_.empty()) { // a scalar is a row of one
    dims_.push_back(1);
    for (std::vector<int64_t> &row : coef_)
      row.push_back(0);
  }
  last_ = dims_.size() - 1;
  step_.assign(dims_.size(), 0);
  for (size_t j = 0; j < sourceRank; ++j)
    for (size_t i = 0; i < dims_.size(); ++i)
      step_[i] += coef_[j][i] * constant.strides[j];
}

template <typename T>
void Gather::copy(char *out, const char *in, int64_t step, int64_t n) {
  if (step == 1) {
    std::memcpy(out, in, static_cast<size_t>(n) * sizeof(T));
    return;
  }
  for (int64_t i = 0; i < n; ++i)
    std::memcpy(out + i * sizeof(T), in + i * step * int64_t(sizeof(T)),
                sizeof(T));
}

/// Packed indices [lo, hi) of the last dim, the others as index_ says.
void Gather::row(int64_t lo, int64_t hi, char *out) {
  int64_t from = lo, to = hi; // the part that lies in the source
  int64_t offset = 0;
  for (size_t j = 0; j < index_.size(); ++j) {
    int64_t s = index_[j], size = constant_.sizes[j], c = coef_[j][last_];
    offset += s * constant_.strides[j];
    if (c == 0) {
      if (s < 0 || s >= size)
        to = from;
    } else if (c > 0) {
      if (s + c * from < 0)
        from = llvm::divideCeilSigned(-s, c);
      if (s + c * (to - 1) >= size)
        to = llvm::divideFloorSigned(size - 1 - s, c) + 1;
    } else {
      if (s + c * from >= size)
        from = llvm::divideCeilSigned(s - size + 1, -c);
      if (s + c * (to - 1) < 0)
        to = llvm::divideFloorSigned(s, -c) + 1;
    }
  }
  int64_t element = constant_.elementBytes;
  from = std::min(from, hi);
  to = std::max(from, to);
  std::memset(out, 0, static_cast<size_t>((from - lo) * element));
  std::memset(out + (to - lo) * element, 0,
              static_cast<size_t>((hi - to) * element));
  if (from == to)
    return;
  const char *in = static_cast<const char *>(constant_.data) +
                   (offset + step_[last_] * from) * element;
  out += (from - lo) * element;
  switch (element) {
  case 1:
    return copy<uint8_t>(out, in, step_[last_], to - from);
  case 2:
    return copy<uint16_t>(out, in, step_[last_], to - from);
  case 4:
    return copy<uint32_t>(out, in, step_[last_], to - from);
  case 8:
    return copy<uint64_t>(out, in, step_[last_], to - from);
  default:
    return copy<Bytes16>(out, in, step_[last_], to - from);
  }
}

/// All rows of the innermost pair of dims.
void Gather::rows() {
  if (inner_ == last_)
    return row(lo_[last_], hi_[last_], out_);
  int64_t element = constant_.elementBytes;
  for (int64_t at = lo_[last_]; at < hi_[last_]; at += kRowBlock) {
    int64_t end = std::min(at + kRowBlock, hi_[last_]);
    char *out = out_ + (at - lo_[last_]) * element;
    for (size_t j = 0; j < index_.size(); ++j)
      index_[j] += coef_[j][inner_] * lo_[inner_];
    for (int64_t b = lo_[inner_]; b < hi_[inner_]; ++b) {
      row(at, end, out);
      out += outStep_[inner_];
      for (size_t j = 0; j < index_.size(); ++j)
        index_[j] += coef_[j][inner_];
    }
    for (size_t j = 0; j < index_.size(); ++j)
      index_[j] -= coef_[j][inner_] * hi_[inner_];
  }
}

void Gather::loop(size_t depth) {
  if (depth == last_)
    return rows();
  if (depth == inner_)
    return loop(depth + 1);
  for (int64_t p = lo_[depth]; p < hi_[depth]; ++p) {
    for (size_t j = 0; j < index_.size(); ++j)
      index_[j] += coef_[j][depth] * p;
    loop(depth + 1);
    for (size_t j = 0; j < index_.size(); ++j)
      index_[j] -= coef_[j][depth] * p;
    out_ += outStep_[depth];
  }
  out_ -= outStep_[depth] * (hi_[depth] - lo_[depth]);
}

void Gather::run(llvm::ArrayRef<int64_t> lo, llvm::ArrayRef<int64_t> hi,
                 char *out) {
  lo_.assign(lo.begin(), lo.end());
  hi_.assign(hi.begin(), hi.end());
  out_ = out;
  outStep_.assign(dims_.size(), 0);
  int64_t bytes = constant_.elementBytes;
  for (size_t i = dims_.size(); i-- > 0;) {
    outStep_[i] = bytes;
    bytes *= hi_[i] - lo_[i];
  }
  inner_ = last_;
  for (size_t i = 0; i < last_; ++i)
    if (hi_[i] - lo_[i] > 1 && step_[i] > 0 && step_[i] < step_[inner_])
      inner_ = i;
  index_.assign(constant_.sizes.size(), 0);
  if (!constant_.layout.dims.empty() && !constant_.layout.base.empty())
    index_.assign(constant_.layout.base.begin(), constant_.layout.base.end());
  loop(0);
}

} // namespace

llvm::Error
packConstant(const Constant &constant,
             llvm::function_ref<llvm::Error(llvm::ArrayRef<char>)> take) {
  Gather gather(constant);
  const Index &dims = gather.dims();
  if (llvm::is_contained(dims, 0))
    return llvm::Error::success();
  // The split dim: pieces are runs along it, everything inside whole.
  size_t split = dims.size() - 1;
  int64_t insideBytes = constant.elementBytes;
  while (split > 0 && insideBytes * dims[split] <= kPieceBytes)
    insideBytes *= dims[split--];
  int64_t run = std::clamp<int64_t>(kPieceBytes / insideBytes, 1, dims[split]);
  std::vector<char> buffer(static_cast<size_t>(run * insideBytes));

  Index lo(dims.size(), 0), hi(dims);
  for (size_t i = 0; i < split; ++i)
    hi[i] = 1;
  for (;;) {
    for (int64_t at = 0; at < dims[split]; at += run) {
      lo[split] = at;
      hi[split] = std::min(at + run, dims[split]);
      auto bytes = static_cast<size_t>((hi[split] - at) * insideBytes);
      if (constant.data)
        gather.run(lo, hi, buffer.data());
      else
        std::memset(buffer.data(), 0, bytes);
      if (llvm::Error error = take(llvm::ArrayRef(buffer.data(), bytes)))
        return error;
    }
    size_t i = split;
    while (i > 0 && hi[i - 1] == dims[i - 1]) {
      --i;
      lo[i] = 0;
      hi[i] = 1;
    }
    if (i == 0)
      return llvm::Error::success();
    ++lo[i - 1];
    ++hi[i - 1];
  }
}

} // namespace ft
