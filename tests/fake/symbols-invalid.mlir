// What a text says of its symbols must be possible.
// RUN: not %ft-opt -ft-fake-propagate -split-input-file %s 2>&1 | FileCheck %s

// CHECK: 'ft.symbol' op 's 0' is no name of a size
ft.symbol "s 0" {lower = 2 : i64}

// -----

// CHECK: 'ft.symbol' op 's0' has an empty range: lower 2, upper 1
ft.symbol "s0" {lower = 2 : i64, upper = 1 : i64}

// -----

// CHECK: 'ft.fact' op 's0 > > 1': {{.+}}
ft.fact "s0 > > 1"

// -----

// CHECK: 'ft.fact' op 's0 + 1' is a number, no relation
ft.fact "s0 + 1"

// -----

// CHECK: [FT0107] the symbol 's0' is declared twice
ft.symbol "s0" {lower = 2 : i64}
ft.symbol "s0" {lower = 5 : i64}
func.func @forward(%x: tensor<?xf32, #ft.meta<[s0], cpu>>) {
  return
}

// -----

// CHECK: [FT0107] the fact 's0 == 6' contradicts what is known of its symbols
ft.symbol "s0" {lower = 2 : i64}
ft.fact "s0 == 5"
ft.fact "s0 == 6"
func.func @forward(%x: tensor<?xf32, #ft.meta<[s0], cpu>>) {
  return
}

// -----

// CHECK: [FT0107] the fact 'q > 3' names a symbol that nothing declares
ft.fact "q > 3"
func.func @forward(%x: tensor<?xf32, #ft.meta<[s0], cpu>>) {
  return
}
