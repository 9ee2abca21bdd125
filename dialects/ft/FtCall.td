//===- FtCall.td - Ops for single ATen overloads -----------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An overload that some pass names in C++ has an op of its own. The families
// (FtMatmul.td, FtView.td…) list them; this file gives them their sections.

#ifndef FT_CALL
#define FT_CALL

include "dialects/ft/FtBase.td"

/// Ways to fill in `device` and `recompute` that many ops share.
defvar kOneDevice = "that of the tensors, which must all be on one; a 0-dim "
                    "CPU tensor may stand beside tensors of another device";
defvar kStrictDevice = "that of the tensors, which must all be on one";
defvar kViewDevice = "that of `self`";
defvar kCheap = "cheap: fused into whatever reads it, so recomputed rather "
                "than kept";
defvar kFree = "cheap: a view, no work and no bytes";
defvar kMemoryBound = "memory-bound: recomputed where that moves fewer bytes "
                      "than keeping the result";
defvar kComputeBound = "compute-bound: kept unless a memory budget asks";
defvar kRandom = "random: recomputed only from its own seed and offset";
defvar kNever = "never: it writes";
defvar kNoGradient = "none: ";

/// How results of elementwise ops are laid out (PyTorch's TensorIterator).
defvar kElementwiseStrides =
  "dense, in the order of dimensions that the operands agree on: row-major if "
  "all are, channels-last if all are; a single dense operand hands its strides "
  "on; where operands differ the first one that decides wins";
defvar kRowMajor = "row-major, whatever the operands have";

/// The sections of an op's documentation, each a field without a default: an
/// op that lacks one is an error. `constraints` are numbered C1, C2…;
/// verifiers, rules and tests refer to them as `ft.linear/C1`.
class Ft_Sections {
  string semantics;
  list<string> constraints;
  string strides;
  string device;
  string gradient;
  string recompute;
  string example;

  string sections = !strconcat(
    "**Semantics.** ", semantics,
    "\n\n**Constraints.**\n",
    !interleave(
      !foreach(i, !range(constraints),
               "- C" # !cast<string>(!add(i, 1)) # ". " # constraints[i]),
      "\n"),
    "\n\n**Strides of results.** ", strides,
    "\n\n**Device.** ", device,
    "\n\n**Gradient.** ", gradient,
    "\n\n**Recompute class.** ", recompute,
    "\n\n**Example.**\n\n```mlir\n", example, "\n```\n");
}

/// One ATen overload as an op of its own.
class Ft_Call<string opMnemonic, list<Trait> traits = []>
    : Ft_AtenOp<opMnemonic, traits>, Ft_Sections {
  let description = sections;
}

#endif // FT_CALL
