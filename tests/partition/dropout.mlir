// The same gradients at every budget: what is drawn again is what was drawn.
//
// RUN: %foretrace run %s --training > %t.none
// RUN: %foretrace run %s --training --keep '*' | diff %t.none -
// RUN: %foretrace run %s --training --memory-budget 0.6 | diff %t.none -
// RUN: %foretrace run %s --training --memory-budget 0.1 | diff %t.none -
// RUN: %foretrace run %s --training --recompute '_philox_key*' | diff %t.none -
//
// The keys have to be kept, or the masks.
// RUN: %exits 4 %foretrace run %s --training --memory-budget 0 2>&1 | FileCheck %s --check-prefix=LEAST
// LEAST: error[FT0905]: {{.*}} at least 32 bytes have to be kept
// LEAST: help: --memory-budget 0.059 is the smallest
// RUN: %foretrace run %s --training --memory-budget 0.059 | diff %t.none -
//
// RUN: %foretrace inspect %s --training --curve | FileCheck %s --check-prefix=CURVE
// CURVE: 1.000 {{ *}}544
// CURVE: 0.500 {{ *}}32
!x = tensor<8x8xf32, #ft.meta<cpu>>
module attributes {ft.stage = "functionalize"} {
  func.func @forward(%v: !x {ft.kind = "input", ft.name = "v", ft.target = "v", ft.requires_grad}, %w: !x {ft.kind = "input", ft.name = "w", ft.target = "w", ft.requires_grad})
      -> (!x {ft.name = "y", ft.role = "output"}) {
    %0 = ft.mm(%v, %w) : (!x, !x) -> !x
    %1 = ft.dropout(%0, 0.25, true) : (!x) -> !x
    %2 = ft.sin(%1) : (!x) -> !x
    %3 = ft.mm(%2, %w) : (!x, !x) -> !x
    %4 = ft.dropout(%3, 0.5, true) : (!x) -> !x
    %5 = ft.mul(%4, %4) : (!x, !x) -> !x
    return %5 : !x
  }
}
