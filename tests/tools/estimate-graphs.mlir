// The peak of small graphs: what the arena of a call takes.
//
// RUN: split-file %s %t

// Three operations one after the other are one kernel, which needs no memory between them.
// RUN: %foretrace estimate %t/chain.mlir --json | FileCheck %s --check-prefix=CHAIN
// CHAIN: "activations_bytes": 49152,
// CHAIN: "peak_bytes": 0,
// Where each is a kernel of its own (a running sum needs all before it), two buffers take turns: the last is the caller's.
// RUN: sed -e 's/ft.sin(\(%[0-9x]*\)) :/ft.cumsum(\1, 0) :/' %t/chain.mlir > %t/sums.mlir
// RUN: %foretrace estimate %t/sums.mlir --json | FileCheck %s --check-prefix=SUMS
// SUMS: "peak_bytes": 32768,
//
//--- chain.mlir
!t = tensor<64x64xf32, #ft.meta<cpu>>
module attributes {ft.stage = "functionalize"} {
  func.func @forward(%x: !t {ft.kind = "input", ft.name = "x", ft.target = "x"}) -> (!t {ft.name = "y", ft.role = "output"}) {
    %0 = ft.sin(%x) : (!t) -> !t
    %1 = ft.sin(%0) : (!t) -> !t
    %2 = ft.sin(%1) : (!t) -> !t
    return %2 : !t
  }
}

// What writes an input in place takes nothing.
// RUN: %foretrace estimate %t/in-place.mlir --json | FileCheck %s --check-prefix=INPLACE
// INPLACE: "peak_bytes": 0,
//
//--- in-place.mlir
!t = tensor<64x64xf32, #ft.meta<cpu>>
module attributes {ft.stage = "fake"} {
  func.func @forward(%x: !t {ft.kind = "input", ft.name = "x", ft.target = "x"}) -> (!t {ft.name = "x_out", ft.role = "input_mutation", ft.target = "x"}, !t {ft.name = "y", ft.role = "output"}) {
    %0 = ft.add(%x, 1) : (!t) -> !t
    return %0, %0 : !t, !t
  }
}

// A result that is read later lives until then, also as a view; two outputs of one value take nothing of the arena.
// RUN: %foretrace estimate %t/outputs.mlir --json | FileCheck %s --check-prefix=OUTPUTS
// OUTPUTS: "outputs_bytes": 32768,
// OUTPUTS: "peak_bytes": 16384,
//
//--- outputs.mlir
!t = tensor<64x64xf32, #ft.meta<cpu>>
!v = tensor<4096xf32, #ft.meta<cpu>>
module attributes {ft.stage = "functionalize"} {
  func.func @forward(%x: !t {ft.kind = "input", ft.name = "x", ft.target = "x"})
      -> (!t {ft.name = "y", ft.role = "output"}, !v {ft.name = "z", ft.role = "output"}) {
    %0 = ft.cumsum(%x, 0) : (!t) -> !t
    %1 = ft.view(%0, [4096]) : (!t) -> !v
    %2 = ft.cumsum(%0, 1) : (!t) -> !t
    %3 = ft.cumsum(%2, 0) : (!t) -> !t
    return %3, %1 : !t, !v
  }
}

// A size that the data decide is in no number of the peak, which is said.
// RUN: %foretrace estimate %data/models/dd_two_unbacked.pt2 --json | FileCheck %s --check-prefix=UNKNOWN
// UNKNOWN: "has_unknown_sizes": true,
// RUN: %foretrace estimate %data/models/dd_two_unbacked.pt2 | FileCheck %s --check-prefix=SAYS
// SAYS: values whose sizes the data decide are not in these numbers
// RUN: %foretrace inspect %t/found.mlir --training --stage partition | FileCheck %s --check-prefix=FOUND
// FOUND: forward and backward work in {{[0-9]+}} bytes, and in memory whose size the data decide
//
//--- found.mlir
!w = tensor<8xf32, #ft.meta<cpu>>
!m = tensor<8xi1, #ft.meta<cpu>>
!u = tensor<?xf32, #ft.meta<[u0], cpu>>
module attributes {ft.stage = "functionalize"} {
  ft.symbol "u0" {lower = 0 : i64, source = "masked_select", upper = 8 : i64}
  func.func @forward(%w: !w {ft.kind = "parameter", ft.name = "w", ft.target = "w", ft.requires_grad}, %x: !m {ft.kind = "input", ft.name = "x", ft.target = "x"})
      -> (!u {ft.name = "y", ft.role = "output"}) {
    %0 = ft.sin(%w) : (!w) -> !w
    %1 = ft.aten "masked_select.default"(%0, %x) : (!w, !m) -> !u
    %2 = ft.mul(%1, %1) : (!u, !u) -> !u
    return %2 : !u
  }
}
