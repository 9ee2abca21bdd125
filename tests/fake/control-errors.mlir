// Branches and loops that are refused, each with its names and both values.
//
// RUN: %ft-opt %s --ft-fake-propagate -split-input-file -verify-diagnostics

// The predicate must hold one element.
func.func @forward(%p: tensor<2xi1, #ft.meta<cpu>>, %x: tensor<4x5xf32, #ft.meta<cpu>>) {
  // expected-error @+1 {{[FT0302] the condition of ft.cond must hold one element, argument 0 is bool [2] cpu}}
  ft.cond(%p, %x) : (tensor<2xi1, #ft.meta<cpu>>, tensor<4x5xf32, #ft.meta<cpu>>) -> ()
  then (%a: tensor<*x!ft.unknown>) {
    ft.yield
  } else (%a: tensor<*x!ft.unknown>) {
    ft.yield
  }
  return
}

// -----

// Both branches and both values are named.
func.func @forward(%p: tensor<i1, #ft.meta<cpu>>, %x: tensor<4x5xf32, #ft.meta<cpu>>) {
  // expected-error @+1 {{[FT0303] the branches of ft.cond 'r' do not agree in result 0: branch 'true_graph_0' gives 'sin', float32 [4, 5] cpu; branch 'false_graph_0' gives 'double', float64 [4, 5] cpu: their dtypes differ}}
  %y = ft.cond(%p, %x) {ft.name = "r", ft.graphs = [{name = "true_graph_0", arguments = ["x"]}, {name = "false_graph_0", arguments = ["x"]}]} : (tensor<i1, #ft.meta<cpu>>, tensor<4x5xf32, #ft.meta<cpu>>) -> tensor<*x!ft.unknown>
  then (%a: tensor<*x!ft.unknown>) {
    %s = ft.sin(%a) {ft.name = "sin"} : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    ft.yield %s : tensor<*x!ft.unknown>
  } else (%a: tensor<*x!ft.unknown>) {
    %c = ft.to.dtype(%a, float64) {ft.name = "double"} : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    ft.yield %c : tensor<*x!ft.unknown>
  }
  return
}

// -----

func.func @forward(%p: tensor<i1, #ft.meta<cpu>>, %x: tensor<4x5xf32, #ft.meta<cpu>>) {
  // expected-error @+1 {{[FT0304] the branches of ft.cond do not agree in result 0: branch 'then' gives result 0 of ft.sin, float32 [4, 5] cpu; branch 'else' gives result 0 of ft._to_copy, float32 [4, 5] cuda:0: their devices differ}}
  %y = ft.cond(%p, %x) : (tensor<i1, #ft.meta<cpu>>, tensor<4x5xf32, #ft.meta<cpu>>) -> tensor<*x!ft.unknown>
  then (%a: tensor<*x!ft.unknown>) {
    %s = ft.sin(%a) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    ft.yield %s : tensor<*x!ft.unknown>
  } else (%a: tensor<*x!ft.unknown>) {
    %c = ft._to_copy(%a, device = #ft.device<cuda:0>) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    ft.yield %c : tensor<*x!ft.unknown>
  }
  return
}

// -----

func.func @forward(%p: tensor<i1, #ft.meta<cpu>>, %x: tensor<4x5xf32, #ft.meta<cpu>>) {
  // expected-error @+1 {{float32 [] cpu: their ranks differ}}
  %y = ft.cond(%p, %x) : (tensor<i1, #ft.meta<cpu>>, tensor<4x5xf32, #ft.meta<cpu>>) -> tensor<*x!ft.unknown>
  then (%a: tensor<*x!ft.unknown>) {
    %s = ft.sin(%a) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    ft.yield %s : tensor<*x!ft.unknown>
  } else (%a: tensor<*x!ft.unknown>) {
    %c = ft.sum(%a) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    ft.yield %c : tensor<*x!ft.unknown>
  }
  return
}

// -----

// Strides of one order join; others do not.
func.func @forward(%p: tensor<i1, #ft.meta<cpu>>, %x: tensor<4x5xf32, #ft.meta<cpu>>) {
  // expected-error @+1 {{float32 [5, 4] strides [1, 5] cpu; branch 'else' gives result 0 of ft.contiguous, float32 [5, 4] cpu: their strides stand in different orders}}
  %y = ft.cond(%p, %x) : (tensor<i1, #ft.meta<cpu>>, tensor<4x5xf32, #ft.meta<cpu>>) -> tensor<*x!ft.unknown>
  then (%a: tensor<*x!ft.unknown>) {
    %t = ft.t(%a) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    %s = ft.sin(%t) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    ft.yield %s : tensor<*x!ft.unknown>
  } else (%a: tensor<*x!ft.unknown>) {
    %t = ft.t(%a) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    %c = ft.contiguous(%t) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    ft.yield %c : tensor<*x!ft.unknown>
  }
  return
}

// -----

func.func @forward(%p: tensor<i1, #ft.meta<cpu>>, %x: tensor<4x5xf32, #ft.meta<cpu>>) {
  // expected-error @+1 {{their strides differ, and not because they are dense tensors of different sizes}}
  %y = ft.cond(%p, %x) : (tensor<i1, #ft.meta<cpu>>, tensor<4x5xf32, #ft.meta<cpu>>) -> tensor<*x!ft.unknown>
  then (%a: tensor<*x!ft.unknown>) {
    %s = ft.sin(%a) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    %t = ft.slice(%s, 1, 0, 2) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    ft.yield %t : tensor<*x!ft.unknown>
  } else (%a: tensor<*x!ft.unknown>) {
    %s = ft.cos(%a) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    %m = ft.slice(%s, 1, 0, 3) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    ft.yield %m : tensor<*x!ft.unknown>
  }
  return
}

// -----

func.func @forward(%p: tensor<i1, #ft.meta<cpu>>, %x: tensor<4x5xf32, #ft.meta<cpu>>) {
  // expected-error @+1 {{their storage offsets differ}}
  %y = ft.cond(%p, %x) : (tensor<i1, #ft.meta<cpu>>, tensor<4x5xf32, #ft.meta<cpu>>) -> tensor<*x!ft.unknown>
  then (%a: tensor<*x!ft.unknown>) {
    %s = ft.sin(%a) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    %t = ft.slice(%s, 0, 1) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    ft.yield %t : tensor<*x!ft.unknown>
  } else (%a: tensor<*x!ft.unknown>) {
    %s = ft.cos(%a) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    %m = ft.slice(%s, 0, 0, 3) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    ft.yield %m : tensor<*x!ft.unknown>
  }
  return
}

// -----

// A region writes only to what it made, also through views.
func.func @forward(%p: tensor<i1, #ft.meta<cpu>>, %x: tensor<4x5xf32, #ft.meta<cpu>>) {
  %y = ft.cond(%p, %x) {ft.name = "r", ft.graphs = [{name = "true_graph_0", arguments = ["x"]}, {name = "false_graph_0", arguments = ["x"]}]} : (tensor<i1, #ft.meta<cpu>>, tensor<4x5xf32, #ft.meta<cpu>>) -> tensor<*x!ft.unknown>
  then (%a: tensor<*x!ft.unknown>) {
    %v = ft.t(%a) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    // expected-error @+1 {{[FT0308] aten.add_.Tensor in 'true_graph_0' writes 'x', which comes from outside ft.cond 'r'}}
    %s = ft.aten "add_.Tensor"(%v, 1) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    %c = ft.clone(%a) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    ft.yield %c : tensor<*x!ft.unknown>
  } else (%a: tensor<*x!ft.unknown>) {
    %c = ft.clone(%a) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    ft.yield %c : tensor<*x!ft.unknown>
  }
  return
}

// -----

// Results have storage of their own.
func.func @forward(%p: tensor<i1, #ft.meta<cpu>>, %x: tensor<4x5xf32, #ft.meta<cpu>>) {
  %y = ft.cond(%p, %x) {ft.name = "r", ft.graphs = [{name = "true_graph_0", arguments = ["x"]}, {name = "false_graph_0", arguments = ["x"]}]} : (tensor<i1, #ft.meta<cpu>>, tensor<4x5xf32, #ft.meta<cpu>>) -> tensor<*x!ft.unknown>
  then (%a: tensor<*x!ft.unknown>) {
    // expected-error @+1 {{[FT0308] 'true_graph_0' of ft.cond 'r' gives 'view', which shares storage with 'x' from outside}}
    %v = ft.view(%a, [20]) {ft.name = "view"} : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    ft.yield %v : tensor<*x!ft.unknown>
  } else (%a: tensor<*x!ft.unknown>) {
    %m = ft.mul(%a, 2) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    %v = ft.view(%m, [20]) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    ft.yield %v : tensor<*x!ft.unknown>
  }
  return
}

// -----

func.func @forward(%p: tensor<i1, #ft.meta<cpu>>, %x: tensor<4x5xf32, #ft.meta<cpu>>) {
  %y:2 = ft.cond(%p, %x) : (tensor<i1, #ft.meta<cpu>>, tensor<4x5xf32, #ft.meta<cpu>>) -> (tensor<*x!ft.unknown>, tensor<*x!ft.unknown>)
  then (%a: tensor<*x!ft.unknown>) {
    %s = ft.sin(%a) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    %t = ft.cos(%a) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    ft.yield %s, %t : tensor<*x!ft.unknown>, tensor<*x!ft.unknown>
  } else (%a: tensor<*x!ft.unknown>) {
    %s = ft.sin(%a) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    %t = ft.t(%s) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    // expected-error @+1 {{[FT0308] 'else' of ft.cond gives result 0 of ft.t, which shares storage with result 0 of ft.sin}}
    %u = ft.t(%t) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    ft.yield %s, %u : tensor<*x!ft.unknown>, tensor<*x!ft.unknown>
  }
  return
}

// -----

// A carried value keeps its layout.
func.func @forward(%x: tensor<4x5xf32, #ft.meta<cpu>>) {
  // expected-error @+1 {{[FT0302] carried value 0 of ft.while 'w' does not keep its layout: 'do' gets argument 0, float32 [4, 5] cpu, and gives result 0 of ft.cat, float32 [8, 5] cpu}}
  %y = ft.while(%x) {ft.name = "w"} : (tensor<4x5xf32, #ft.meta<cpu>>) -> tensor<*x!ft.unknown>
  cond (%a: tensor<*x!ft.unknown>) {
    %s = ft.sum(%a) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    %p = ft.gt.Scalar(%s, 0) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    ft.yield %p : tensor<*x!ft.unknown>
  } do (%a: tensor<*x!ft.unknown>) {
    %c = ft.cat([%a, %a]) : (tensor<*x!ft.unknown>, tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    ft.yield %c : tensor<*x!ft.unknown>
  }
  return
}

// -----

func.func @forward(%x: tensor<4x5xf32, #ft.meta<cpu>>) {
  // expected-error @+1 {{[FT0303] carried value 0 of ft.while 'w' does not keep its layout}}
  %y = ft.while(%x) {ft.name = "w"} : (tensor<4x5xf32, #ft.meta<cpu>>) -> tensor<*x!ft.unknown>
  cond (%a: tensor<*x!ft.unknown>) {
    %s = ft.sum(%a) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    %p = ft.gt.Scalar(%s, 0) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    ft.yield %p : tensor<*x!ft.unknown>
  } do (%a: tensor<*x!ft.unknown>) {
    %c = ft.to.dtype(%a, float64) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    ft.yield %c : tensor<*x!ft.unknown>
  }
  return
}

// -----

// Another order of the dims is another layout.
func.func @forward(%x: tensor<4x4xf32, #ft.meta<cpu>>) {
  // expected-error @+1 {{float32 [4, 4] cpu, and gives result 0 of ft.clone, float32 [4, 4] strides [1, 4] cpu}}
  %y = ft.while(%x) {ft.name = "w"} : (tensor<4x4xf32, #ft.meta<cpu>>) -> tensor<*x!ft.unknown>
  cond (%a: tensor<*x!ft.unknown>) {
    %s = ft.sum(%a) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    %p = ft.gt.Scalar(%s, 0) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    ft.yield %p : tensor<*x!ft.unknown>
  } do (%a: tensor<*x!ft.unknown>) {
    %t = ft.t(%a) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    %c = ft.clone(%t) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    ft.yield %c : tensor<*x!ft.unknown>
  }
  return
}

// -----

// The condition must hold one element.
func.func @forward(%x: tensor<4x5xf32, #ft.meta<cpu>>) {
  // expected-error @+1 {{[FT0302] the condition of ft.while 'w' must hold one element, result 0 of ft.gt.Scalar is bool [4, 5] cpu}}
  %y = ft.while(%x) {ft.name = "w"} : (tensor<4x5xf32, #ft.meta<cpu>>) -> tensor<*x!ft.unknown>
  cond (%a: tensor<*x!ft.unknown>) {
    %p = ft.gt.Scalar(%a, 0) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    ft.yield %p : tensor<*x!ft.unknown>
  } do (%a: tensor<*x!ft.unknown>) {
    %c = ft.sin(%a) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    ft.yield %c : tensor<*x!ft.unknown>
  }
  return
}

// -----

// What a scan runs over has one length.
func.func @forward(%x: tensor<4x5xf32, #ft.meta<cpu>>, %z: tensor<6xf32, #ft.meta<cpu>>) {
  // expected-error @+1 {{[FT0302] ft.scan runs over tensors of different lengths: argument 0 has 4 positions in dim 0, argument 1 has 6}}
  %y = ft.scan init() over(%x, %z) : (tensor<4x5xf32, #ft.meta<cpu>>, tensor<6xf32, #ft.meta<cpu>>) -> tensor<*x!ft.unknown>
  do (%a: tensor<*x!ft.unknown>, %b: tensor<*x!ft.unknown>) {
    %c = ft.sin(%a) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    ft.yield %c : tensor<*x!ft.unknown>
  }
  return
}

// -----

func.func @forward(%x: tensor<4x5xf32, #ft.meta<cpu>>) {
  // expected-error @+1 {{[FT0305] ft.scan runs over dim 2 of argument 0, which has rank 2}}
  %y = ft.scan init() over(%x) {dim = 2 : i64} : (tensor<4x5xf32, #ft.meta<cpu>>) -> tensor<*x!ft.unknown>
  do (%a: tensor<*x!ft.unknown>) {
    %c = ft.sin(%a) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    ft.yield %c : tensor<*x!ft.unknown>
  }
  return
}

// -----

func.func @forward(%x: tensor<4x5xf32, #ft.meta<cpu>>) {
  // expected-error @+1 {{[FT0305] ft.scan stacks result 0 of ft.sum at dim 1, which has rank 0}}
  %y = ft.scan init() over(%x) {dim = 1 : i64} : (tensor<4x5xf32, #ft.meta<cpu>>) -> tensor<*x!ft.unknown>
  do (%a: tensor<*x!ft.unknown>) {
    %c = ft.sum(%a) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    ft.yield %c : tensor<*x!ft.unknown>
  }
  return
}

// -----

// The border of a region compares types of SSA values.
func.func @forward(%p: i1, %x: tensor<4x5xf32, #ft.meta<cpu>>) {
  %s = ft.sin(%x) : (tensor<4x5xf32, #ft.meta<cpu>>) -> tensor<*x!ft.unknown>
  %t = ft.aten "t_.default"(%s) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
  // expected-error @+1 {{[FT0308] ft.cond reads result 0 of ft.sin after an operation in place has changed its shape}}
  ft.cond(%p, %s) : (i1, tensor<*x!ft.unknown>) -> () then (%a: tensor<*x!ft.unknown>) { ft.yield } else (%a: tensor<*x!ft.unknown>) { ft.yield }
  return
}

// -----

// What comes from outside is not given back.
func.func @forward(%p: i1, %x: tensor<4xf32, #ft.meta<cpu>>) {
  %y = ft.cond(%p, %x) : (i1, tensor<4xf32, #ft.meta<cpu>>) -> tensor<*x!ft.unknown>
  // expected-error @+1 {{[FT0308] 'then' of ft.cond gives argument 0, which comes from outside}}
  then (%a: tensor<*x!ft.unknown>) {
    ft.yield %a : tensor<*x!ft.unknown>
  } else (%a: tensor<*x!ft.unknown>) {
    %s = ft.sin(%a) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    ft.yield %s : tensor<*x!ft.unknown>
  }
  return
}

// -----

// A ft.refine states a layout.
func.func @forward(%x: tensor<4xf32, #ft.meta<cpu>>) {
  // expected-error @+1 {{[FT0107] ft.refine states no layout: 'tensor<4xf32>'}}
  %y = ft.refine %x : tensor<4xf32, #ft.meta<cpu>> -> tensor<4xf32>
  return
}

// -----

// What a branch asserts of data holds in it, not behind it.
func.func @forward(%p: i1, %x: tensor<i64, #ft.meta<cpu>>, %y: tensor<7xf32, #ft.meta<cpu>>) {
  %n = ft.aten "item.default"(%x) : (tensor<i64, #ft.meta<cpu>>) -> i64
  ft.cond(%p, %y, %n) : (i1, tensor<7xf32, #ft.meta<cpu>>, i64) -> ()
  then (%a: tensor<*x!ft.unknown>, %k: i64) {
    %g = ft.aten "operator.ge"(%k, 0) : (i64) -> i1
    ft.aten "_assert_scalar.default"(%g, "not negative") : (i1) -> ()
    %l = ft.aten "operator.le"(%k, 7) : (i64) -> i1
    ft.aten "_assert_scalar.default"(%l, "at most 7") : (i1) -> ()
    %z = ft.slice(%a, 0, 0, %k) : (tensor<*x!ft.unknown>, i64) -> tensor<*x!ft.unknown>
    ft.yield
  } else (%a: tensor<*x!ft.unknown>, %k: i64) {
    ft.yield
  }
  // expected-error @+1 {{[FT0311] it is not known whether u0 < 0}}
  %z = ft.zeros([%n]) : (i64) -> tensor<*x!ft.unknown>
  return
}
