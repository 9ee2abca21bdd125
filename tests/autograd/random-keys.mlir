// RUN: %ft-opt -ft-fake-propagate -ft-functionalize -ft-autograd %s | FileCheck %s
// Every operator that draws has seed and offset as an argument: integers, what
// takes a loop for each element, and what is written in place or under no_grad.

// CHECK-LABEL: func.func @forward
// CHECK: %[[K:.*]] = ft.aten "_philox_key.default"()
// CHECK: ft.aten "_philox_multinomial.default"(%{{.*}}, 3, true, %[[K]])
// CHECK: %[[K:.*]] = ft.aten "_philox_key.default"()
// CHECK: ft.aten "_philox_randint.default"(2, 9, [3], %[[K]], dtype = int64)
// CHECK: %[[K:.*]] = ft.aten "_philox_key.default"()
// CHECK: ft.aten "_philox_randperm.default"(3, %[[K]], dtype = int64)
// CHECK: %[[K:.*]] = ft.aten "_philox_key.default"()
// CHECK: ft.aten "_philox_poisson.default"(%{{.*}}, %[[K]])
// CHECK: %[[K:.*]] = ft.aten "_philox_key.default"()
// CHECK: ft.aten "_philox_bernoulli.default"(%{{.*}}, %{{.*}}, %[[K]])
// CHECK: %[[K:.*]] = ft.aten "_philox_key.default"()
// CHECK: ft.aten "_philox_random.default"(%{{.*}}, 0, 7, %[[K]])
// CHECK: %[[K:.*]] = ft.aten "_philox_key.default"()
// CHECK: ft.aten "_philox_uniform.default"(%[[K]], [3], dtype = float32)
// CHECK-NOT: random_.
module {
  func.func @forward(%w: tensor<3xf32, #ft.meta<cpu>> {ft.kind = "parameter", ft.target = "w", ft.requires_grad})
      -> (tensor<*x!ft.unknown> {ft.name = "y", ft.role = "output"}, tensor<*x!ft.unknown> {ft.name = "i", ft.role = "output"},
          tensor<*x!ft.unknown> {ft.name = "m", ft.role = "output"}) {
    %p = ft.aten "sigmoid.default"(%w) : (tensor<3xf32, #ft.meta<cpu>>) -> tensor<*x!ft.unknown>
    %m = ft.aten "multinomial.default"(%p, 3, true) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    %i = ft.aten "randint.low"(2, 9, [3]) : () -> tensor<*x!ft.unknown>
    %o = ft.aten "randperm.default"(3) : () -> tensor<*x!ft.unknown>
    %c = ft.aten "poisson.default"(%p) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    %b = ft.aten "bernoulli.default"(%p) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    %s = ft.aten "add.Tensor"(%m, %i) : (tensor<*x!ft.unknown>, tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    %n = ft.aten "clone.default"(%s) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    %r = ft.aten "random_.to"(%s, 7) : (tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    %t = ft.aten "add.Tensor"(%r, %o) : (tensor<*x!ft.unknown>, tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    %u = ft.aten "rand.default"([3]) {ft.no_grad} : () -> tensor<*x!ft.unknown>
    %x = ft.aten "mul.Tensor"(%w, %u) : (tensor<3xf32, #ft.meta<cpu>>, tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    %y = ft.aten "mul.Tensor"(%x, %b) : (tensor<*x!ft.unknown>, tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    %z = ft.aten "mul.Tensor"(%y, %c) : (tensor<*x!ft.unknown>, tensor<*x!ft.unknown>) -> tensor<*x!ft.unknown>
    return %z, %t, %n : tensor<*x!ft.unknown>, tensor<*x!ft.unknown>, tensor<*x!ft.unknown>
  }
}
