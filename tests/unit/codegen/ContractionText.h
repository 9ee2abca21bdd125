//===- ContractionText.h - Texts of contraction kernels --------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_TESTS_UNIT_CODEGEN_CONTRACTIONTEXT_H
#define FORETRACE_TESTS_UNIT_CODEGEN_CONTRACTIONTEXT_H

#include "KernelHarness.h"

#include "llvm/Support/FormatVariadic.h"

namespace ft::test {

/// A contraction C += A * B as text. Maps are given in the names of `dims`.
struct ContractionText {
  std::string dims;                                   ///< "m, n, k"
  std::string iterators;                              ///< "\"parallel\", …"
  std::string aType, aMap, bType, bMap, cShape, cMap; ///< "4x5xf32", "m, k", …
  std::string element = "f32";                        ///< of the accumulator
  std::string extend = ""; ///< "arith.extf": widens a and b
  std::string aElement = "f32", bElement = "f32";
  /// Bias memref type ("768xf32"), or empty; added along the last dim, then
  /// the epilogue "relu" or "gelu".
  std::string bias, epilogue;
  std::string aLayout, bLayout; ///< ", strided<[…]>"
  std::string zero = "0.0";

  std::string module() const {
    bool real = element[0] == 'f';
    std::string aM = "memref<" + aType + aLayout + ">",
                bM = "memref<" + bType + bLayout + ">", c = cShape + element;
    std::string args = "%a: " + aM + ", %b: " + bM;
    if (!bias.empty())
      args += ", %bias: memref<" + bias + ">";
    args += ", %out: memref<" + c + ">";
    std::string body;
    auto line = [&](auto &&...parts) {
      ((body += parts), ...);
      body += "\n";
    };
    std::string aT = "tensor<" + aType + ">", bT = "tensor<" + bType + ">",
                cT = "tensor<" + c + ">";
    line("%ta = bufferization.to_tensor %a restrict : ", aM, " to ", aT);
    line("%tb = bufferization.to_tensor %b restrict : ", bM, " to ", bT);
    line("%zero = arith.constant ", zero, " : ", element);
    line("%e = tensor.empty() : ", cT);
    line("%f = linalg.fill ins(%zero : ", element, ") outs(%e : ", cT, ") -> ",
         cT);
    line("%c = linalg.generic {indexing_maps = [affine_map<(", dims, ") -> (",
         aMap, ")>, affine_map<(", dims, ") -> (", bMap, ")>, affine_map<(",
         dims, ") -> (", cMap, ")>], iterator_types = [", iterators,
         "]} ins(%ta, %tb : ", aT, ", ", bT, ") outs(%f : ", cT, ") {");
    line("^bb0(%x: ", aElement, ", %y: ", bElement, ", %acc: ", element, "):");
    std::string x = "%x", y = "%y";
    if (!extend.empty() && aElement != element) {
      line("%xx = ", extend, " %x : ", aElement, " to ", element);
      x = "%xx";
    }
    if (!extend.empty() && bElement != element) {
      line("%yy = ", extend, " %y : ", bElement, " to ", element);
      y = "%yy";
    }
    line("%p = arith.mul", real ? "f " : "i ", x, ", ", y, " : ", element);
    line("%s = arith.add", real ? "f" : "i", " %acc, %p : ", element);
    line("linalg.yield %s : ", element, "\n} -> ", cT);
    std::string result = "%c";
    if (!bias.empty()) {
      std::string id, last;
      size_t rank = std::count(cShape.begin(), cShape.end(), 'x');
      for (size_t i = 0; i < rank; ++i) {
        last = "d" + std::to_string(i);
        id += (i ? ", " : "") + last;
      }
      std::string kinds;
      for (size_t i = 0; i < rank; ++i)
        kinds += std::string(i ? ", " : "") + "\"parallel\"";
      line("%tbias = bufferization.to_tensor %bias restrict : memref<", bias,
           "> to tensor<", bias, ">");
      line("%r = linalg.generic {indexing_maps = [affine_map<(", id, ") -> (",
           id, ")>, affine_map<(", id, ") -> (", last, ")>, affine_map<(", id,
           ") -> (", id, ")>], iterator_types = [", kinds,
           "]} ins(%c, %tbias : ", cT, ", tensor<", bias, ">) outs(%e : ", cT,
           ") {");
      line("^bb0(%u: ", element, ", %v: ", element, ", %o: ", element, "):");
      line("%w = arith.addf %u, %v : ", element);
      if (epilogue == "relu") {
        line("%q = arith.maximumf %w, %zero : ", element);
      } else if (epilogue == "gelu") {
        line("%k1 = arith.constant 0.70710678 : f32");
        line("%k2 = arith.constant 0.5 : f32");
        line("%k3 = arith.constant 1.0 : f32");
        line("%g1 = arith.mulf %w, %k1 : f32");
        line("%g2 = math.erf %g1 : f32");
        line("%g3 = arith.addf %g2, %k3 : f32");
        line("%g4 = arith.mulf %w, %k2 : f32");
        line("%q = arith.mulf %g4, %g3 : f32");
      } else {
        line("%q = arith.addf %w, %zero : ", element);
      }
      line("linalg.yield %q : ", element, "\n} -> ", cT);
      result = "%r";
    }
    line("bufferization.materialize_in_destination ", result,
         " in restrict writable %out : (", cT, ", memref<", c, ">) -> ()");
    return kernelModule(args, body);
  }
};

inline constexpr const char *kPPR = "\"parallel\", \"parallel\", \"reduction\"";

/// C[m, n] = A[m, k] * B; B packed in panels of `panel`, row-major [k, n] (0)
/// or transposed [n, k] (-1).
inline ContractionText matmulText(int64_t m, int64_t n, int64_t k,
                                  int64_t panel) {
  ContractionText t;
  t.dims = "m, n, k";
  t.iterators = kPPR;
  t.aType = llvm::formatv("{0}x{1}xf32", m, k);
  t.aMap = "m, k";
  if (panel > 0) {
    t.bType =
        llvm::formatv("{0}x{1}x{2}xf32", (n + panel - 1) / panel, k, panel);
    t.bMap = llvm::formatv("n floordiv {0}, k, n mod {0}", panel);
  } else {
    t.bType = panel ? llvm::formatv("{0}x{1}xf32", n, k)
                    : llvm::formatv("{0}x{1}xf32", k, n);
    t.bMap = panel ? "n, k" : "k, n";
  }
  t.cShape = llvm::formatv("{0}x{1}x", m, n);
  t.cMap = "m, n";
  return t;
}

/// Channels-last convolution of an input that is padded already, weights
/// packed in panels.
inline ContractionText convText(int64_t n, int64_t oh, int64_t ow, int64_t f,
                                int64_t kh, int64_t kw, int64_t c,
                                int64_t stride, int64_t panel) {
  ContractionText t;
  t.dims = "n, oh, ow, f, kh, kw, c";
  t.iterators = "\"parallel\", \"parallel\", \"parallel\", \"parallel\", "
                "\"reduction\", \"reduction\", \"reduction\"";
  t.aType = llvm::formatv("{0}x{1}x{2}x{3}xf32", n, (oh - 1) * stride + kh,
                          (ow - 1) * stride + kw, c);
  t.aMap = llvm::formatv("n, oh * {0} + kh, ow * {0} + kw, c", stride);
  t.bType = llvm::formatv("{0}x{1}x{2}x{3}x{4}xf32", (f + panel - 1) / panel,
                          kh, kw, c, panel);
  t.bMap = llvm::formatv("f floordiv {0}, kh, kw, c, f mod {0}", panel);
  t.cShape = llvm::formatv("{0}x{1}x{2}x{3}x", n, oh, ow, f);
  t.cMap = "n, oh, ow, f";
  return t;
}

} // namespace ft::test

#endif // FORETRACE_TESTS_UNIT_CODEGEN_CONTRACTIONTEXT_H
