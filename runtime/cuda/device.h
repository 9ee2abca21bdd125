/*===- device.h - The part of a call that a GPU does ---------------- C11 -===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A model whose values live on a GPU has one image with its kernels. What a
 * call works in is memory of the device: the arena, the weights, and copies of
 * those of the caller's tensors that are the host's. ft_gen_forward, which runs
 * on the host, only computes addresses in it and launches kernels, in order, on
 * the caller's stream.
 *
 * Nothing is opened before the first call: a model can be loaded, asked for its
 * interface and its sizes where there is no driver.
 *===----------------------------------------------------------------------===*/
#ifndef FORETRACE_RUNTIME_CUDA_DEVICE_H
#define FORETRACE_RUNTIME_CUDA_DEVICE_H

#include "../src/internal.h"

/* What a model has on its device; made by its first call. */
typedef struct ft_device ft_device;

/* Memory of the device that a workspace keeps. */
typedef struct ft_device_memory ft_device_memory;

/* One call. The functions return whether they succeeded, like those of
 * internal.h. */
typedef struct ft_device_call {
  ft_device *device;
  ft_workspace *work;
  void *stream;
  bool copies; /* some tensor of the caller is in the host's memory */
  void **host; /* [inputs + outputs]: where a copied tensor is there, or NULL */
} ft_device_call;

/* Opens the driver and brings kernels and weights to the device, once. */
bool ft_device_open(ft_model *model, ft_device **device, ft_status *status);
/* Gets memory for the arena and for copies, and copies inputs there: pointers
 * in work->inputs and outputs become those of the device. */
bool ft_device_enter(ft_device_call *call, const DLTensor *inputs,
                     const DLTensor *outputs, ft_status *status);
/* Copies back what was written to host tensors, into the host memory where it
 * was, and waits for it. Ends what enter began, also after a failure. */
bool ft_device_leave(ft_device_call *call, bool ok, ft_status *status);
/* The arena and the weights of a call that was entered. */
uint8_t *ft_device_arena(const ft_device_call *call);
const uint8_t *ft_device_weights(const ft_device_call *call);
/* Frees the memory that calls have worked in, once they are over. */
void ft_device_drop(ft_workspace *work);
void ft_device_close(ft_device *device);

#endif /* FORETRACE_RUNTIME_CUDA_DEVICE_H */
