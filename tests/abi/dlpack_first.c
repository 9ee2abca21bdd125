/* dlpack_first.c - A program that already has DLPack's types, of a version
 * that knows no bool. (An own copy: the library may not be installed.)
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#define DLPACK_DLPACK_H_
#include <stdint.h>
typedef enum { kDLCPU = 1, kDLCUDA = 2, kDLCUDAHost = 3 } DLDeviceType;
typedef struct {
  DLDeviceType device_type;
  int device_id;
} DLDevice;
typedef enum {
  kDLInt = 0U,
  kDLUInt = 1U,
  kDLFloat = 2U,
  kDLBfloat = 4U
} DLDataTypeCode;
typedef struct {
  uint8_t code;
  uint8_t bits;
  uint16_t lanes;
} DLDataType;
typedef struct {
  void *data;
  DLDevice device;
  int ndim;
  DLDataType dtype;
  int64_t *shape;
  int64_t *strides;
  uint64_t byte_offset;
} DLTensor;

#include "affine.h"

int main(void) {
  float x[12] = {0}, y[12];
  ft_model *model = NULL;
  ft_status status = affine_load(NULL, &model);
  if (status.code == FT_OK)
    status = affine_forward(model, x, y, NULL);
  affine_unload(model);
  return status.code != FT_OK || y[0] != 10;
}
