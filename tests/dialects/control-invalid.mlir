// RUN: %ft-opt %s -split-input-file -verify-diagnostics

func.func @predicate(%p: i64) {
  // expected-error @+1 {{needs an i1 or a tensor as predicate, not 'i64'}}
  ft.cond(%p) : (i64) -> () then () { ft.yield } else () { ft.yield }
  return
}

// -----

func.func @arguments(%p: i1, %x: tensor<2xf32>) {
  // expected-error @+1 {{has 0 arguments in its region 'else' for 1 operands}}
  ft.cond(%p, %x) : (i1, tensor<2xf32>) -> () then (%a: tensor<2xf32>) { ft.yield } else () { ft.yield }
  return
}

// -----

func.func @argument_type(%p: i1, %x: tensor<2xf32>) {
  // expected-error @+1 {{has an argument 0 of type 'tensor<3xf32>' in its region 'then' for an operand of type 'tensor<2xf32>'}}
  ft.cond(%p, %x) : (i1, tensor<2xf32>) -> () then (%a: tensor<3xf32>) { ft.yield } else (%a: tensor<2xf32>) { ft.yield }
  return
}

// -----

func.func @yields(%p: i1, %x: tensor<2xf32>) {
  %y = ft.cond(%p, %x) : (i1, tensor<2xf32>) -> tensor<2xf32> then (%a: tensor<2xf32>) {
    ft.yield %a : tensor<2xf32>
  } else (%a: tensor<2xf32>) {
    // expected-error @+1 {{gives 0 values where 1 are expected}}
    ft.yield
  }
  return
}

// -----

// Branches of different types join through ft.refine.
func.func @join(%p: i1, %x: tensor<2xf32, #ft.meta<cpu>>) {
  %y = ft.cond(%p, %x) : (i1, tensor<2xf32, #ft.meta<cpu>>) -> tensor<?xf32, #ft.meta<[u0], cpu>>
  then (%a: tensor<2xf32, #ft.meta<cpu>>) {
    %r = ft.refine %a : tensor<2xf32, #ft.meta<cpu>> -> tensor<?xf32, #ft.meta<[u0], cpu>>
    ft.yield %r : tensor<?xf32, #ft.meta<[u0], cpu>>
  } else (%a: tensor<2xf32, #ft.meta<cpu>>) {
    // expected-error @+1 {{gives value 0 as 'tensor<2xf32, #ft.meta<cpu>>' where 'tensor<?xf32, #ft.meta<[u0], cpu>>' is expected}}
    ft.yield %a : tensor<2xf32, #ft.meta<cpu>>
  }
  return
}

// -----

func.func @condition(%i: tensor<i64>) {
  // expected-error @+1 {{needs one ft.yield of one value at the end of its region 'cond'}}
  %n = ft.while(%i) : (tensor<i64>) -> tensor<i64> cond (%k: tensor<i64>) { ft.yield } do (%k: tensor<i64>) { ft.yield %k : tensor<i64> }
  return
}

// -----

func.func @condition_type(%i: i64) {
  // expected-error @+1 {{needs an i1 or a tensor as condition, not 'i64'}}
  %n = ft.while(%i) : (i64) -> i64 cond (%k: i64) { ft.yield %k : i64 } do (%k: i64) { ft.yield %k : i64 }
  return
}

// -----

func.func @carried(%i: i64) {
  // expected-error @+1 {{has 0 results for 1 carried values}}
  ft.while(%i) : (i64) -> () cond (%k: i64) { ft.yield %k : i64 } do (%k: i64) { ft.yield %k : i64 }
  return
}

// -----

func.func @over(%h: tensor<2xf32>) {
  // expected-error @+1 {{has nothing to run over}}
  %c = ft.scan init(%h) over() : (tensor<2xf32>) -> tensor<2xf32> do (%a: tensor<2xf32>) { ft.yield %a : tensor<2xf32> }
  return
}

// -----

func.func @over_numbers(%n: i64) {
  // expected-error @+1 {{runs over tensors only, not 'i64'}}
  ft.scan init() over(%n) : (i64) -> () do (%a: i64) { ft.yield }
  return
}

// -----

func.func @stacks(%x: tensor<2xf32>) {
  // expected-error @+1 {{stacks tensors only, not 'i64'}}
  %y = ft.scan init() over(%x) : (tensor<2xf32>) -> i64 do (%a: tensor<f32>) {
    %c = arith.constant 0 : i64
    ft.yield %c : i64
  }
  return
}

// -----

// What a region reads is an operand.
func.func @capture(%p: i1, %x: tensor<2xf32>) {
  ft.cond(%p) : (i1) -> () then () {
    // expected-error @+1 {{use of undeclared SSA value name}}
    %s = ft.sin(%x) : (tensor<2xf32>) -> tensor<2xf32>
    ft.yield
  } else () { ft.yield }
  return
}

// -----

func.func @terminator(%p: i1) {
  // expected-error @+1 {{has a region 'then' that does not end in ft.yield}}
  "ft.cond"(%p) ({
    llvm.unreachable
  }, {
    ft.yield
  }) : (i1) -> ()
  return
}

// -----

func.func @no_block(%p: i1) {
  // expected-error @+1 {{region #0 ('thenRegion') failed to verify constraint: region with 1 blocks}}
  "ft.cond"(%p) ({}, { ft.yield }) : (i1) -> ()
  return
}

// -----

func.func @segments(%i: i64) {
  // expected-error @+1 {{operandSegmentSizes}}
  "ft.while"(%i) <{operandSegmentSizes = array<i32: 2, -1>}> ({ ft.yield }, { ft.yield }) : (i64) -> ()
  return
}

// -----

func.func @elsewhere() {
  // expected-error @+1 {{expects parent op to be one of 'ft.cond, ft.while, ft.scan'}}
  ft.yield
}

// -----

func.func @refine_size(%x: tensor<2xf32, #ft.meta<cpu>>) {
  // expected-error @+1 {{states that float32 [2] cpu is float32 [3] cpu, which no run can bear out}}
  %y = ft.refine %x : tensor<2xf32, #ft.meta<cpu>> -> tensor<3xf32, #ft.meta<cpu>>
  return
}

// -----

func.func @refine_strides(%x: tensor<2x3xf32, #ft.meta<cpu>>) {
  // expected-error @+1 {{states that float32 [2, 3] cpu is float32 [2, 3] strides [1, 2] cpu, which no run can bear out; other strides take a copy}}
  %y = ft.refine %x : tensor<2x3xf32, #ft.meta<cpu>> -> tensor<2x3xf32, #ft.meta<strides = [1, 2], cpu>>
  return
}

// -----

func.func @refine_dtype(%x: tensor<2xf32, #ft.meta<cpu>>) {
  // expected-error @+1 {{cannot turn float32 [2] cpu into float32 [2] cuda:0}}
  %y = ft.refine %x : tensor<2xf32, #ft.meta<cpu>> -> tensor<2xf32, #ft.meta<cuda:0>>
  return
}
