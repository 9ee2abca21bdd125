//===- CustomArgs.cpp - Arguments of custom operators, for C ---*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/custom/CustomArgs.h"

namespace ft {

Arg asDeclared(Arg arg, const SchemaType &type) {
  for (Arg &item : arg.list)
    item = asDeclared(std::move(item), type);
  if (type.kind == SchemaType::Float && arg.kind == Arg::Int &&
      arg.dim.isStatic())
    return Arg::floating(static_cast<double>(arg.dim.value()));
  if (type.kind == SchemaType::Int && arg.kind == Arg::Bool && arg.operand < 0)
    return Arg::integer(arg.boolean ? 1 : 0);
  return arg;
}

int32_t argKind(const Arg &arg) {
  switch (arg.kind) {
  case Arg::None:
  case Arg::Complex:
    return FT_ARG_NONE;
  case Arg::Tensor:
    return FT_ARG_TENSOR;
  case Arg::Int:
    return FT_ARG_INT;
  case Arg::Float:
    return FT_ARG_FLOAT;
  case Arg::Bool:
    return FT_ARG_BOOL;
  case Arg::Str:
    return FT_ARG_STRING;
  case Arg::DType:
    return FT_ARG_DTYPE;
  case Arg::Device:
    return FT_ARG_DEVICE;
  case Arg::List:
    return FT_ARG_LIST;
  }
  return FT_ARG_NONE;
}

static constexpr DType kDTypes[] = {
#define FT_DTYPE(name, torchName, bytes, dlpackCode) DType::name,
#include "dialects/ft/DTypes.def"
#undef FT_DTYPE
};

DLDataType toDLPack(DType dtype) {
  return {static_cast<uint8_t>(dtypeDLPackCode(dtype)),
          static_cast<uint8_t>(dtypeBytes(dtype) * 8), 1};
}

std::optional<DType> fromDLPack(DLDataType dtype) {
  for (DType candidate : kDTypes) {
    DLDataType have = toDLPack(candidate);
    if (have.code == dtype.code && have.bits == dtype.bits && dtype.lanes == 1)
      return candidate;
  }
  return std::nullopt;
}

DLDevice toDLPack(Device device) {
  switch (device.kind) {
  case Device::Cpu:
    return {kDLCPU, 0};
  case Device::Cuda:
    return {kDLCUDA, device.index};
  case Device::Meta:
    break;
  }
  return {static_cast<DLDeviceType>(0), 0};
}

std::optional<Device> fromDLPack(DLDevice device) {
  switch (static_cast<int>(device.device_type)) {
  case 0:
    return Device{Device::Meta, 0};
  case kDLCPU:
    return Device{Device::Cpu, 0};
  case kDLCUDA:
    return Device{Device::Cuda, device.device_id};
  default:
    return std::nullopt;
  }
}

std::string dtypeText(DLDataType dtype) {
  DLDataType element = dtype;
  element.lanes = 1;
  std::optional<DType> known = fromDLPack(element);
  std::string text = known ? dtypeName(*known).str()
                           : "code " + std::to_string(dtype.code) + " of " +
                                 std::to_string(dtype.bits) + " bits";
  return dtype.lanes == 1
             ? text
             : text + " in " + std::to_string(dtype.lanes) + " lanes";
}

} // namespace ft
