// What entry functions of checked builds do around a step.
// RUN: %foretrace compile %data/models/mlp.static.pt2 --stop-after lower \
// RUN:   --sanitize address -o %t.mlir
// RUN: FileCheck %s --check-prefix=ADDRESS --input-file=%t.mlir
// RUN: %foretrace compile %data/models/mlp.static.pt2 --stop-after lower \
// RUN:   -o %t.mlir
// RUN: FileCheck %s --check-prefix=PLAIN --input-file=%t.mlir

// The second kernel reads what the first wrote and writes for the third: both
// are open while it runs.
// ADDRESS-LABEL: func.func @ft_gen_forward
// ADDRESS: call @k0_linear_relu
// ADDRESS: call @ft_rt_close
// ADDRESS: call @ft_rt_open
// ADDRESS: call @ft_rt_open
// ADDRESS: call @k1_linear_gelu
// ADDRESS: call @ft_rt_close
// ADDRESS: call @ft_rt_close
// ADDRESS: call @ft_rt_open

// PLAIN-LABEL: func.func @ft_gen_forward
// PLAIN-NOT: ft_rt_open
