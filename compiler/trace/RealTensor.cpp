//===- RealTensor.cpp - Tensors with data become fake ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One fake for each tensor, one fake storage for each storage.
//
//   a = data 0x1000, sizes [4]        fake 0, storage 0
//   b = data 0x1000, offset 8, [2]    fake 1, storage 0
//   a again                           fake 0
//   a, after its owner is gone and another tensor has come to 0x1000
//                                     fake 2, storage 1
//
// Cost: a look-up in a tree of what is known, and a walk over all storages for
// a tensor that is new.

#include "compiler/fake/ConstantAttr.h"
#include "compiler/trace/TraceState.h"

#include <algorithm>

namespace ft {

/// Programs without exceptions make these too: what is malformed keeps no
/// lists and a negative rank, and is refused where a mode is given it.
static constexpr int32_t kMalformed = -1;

RealTensor::RealTensor(const DLTensor &tensor, std::shared_ptr<void> owner)
    : view(tensor), owner(std::move(owner)) {
  if (tensor.ndim < 0 || (tensor.ndim > 0 && !tensor.shape)) {
    view.ndim = kMalformed;
    view.strides = nullptr;
    return;
  }
  sizes.assign(tensor.shape, tensor.shape + tensor.ndim);
  if (tensor.strides)
    strides.assign(tensor.strides, tensor.strides + tensor.ndim);
}

RealTensor::RealTensor(const void *data, const TensorDesc &desc,
                       std::shared_ptr<void> owner)
    : owner(std::move(owner)), sizes(desc.sizes()),
      strides(desc.strides().value_or(std::vector<int64_t>())) {
  uint8_t code = UINT8_MAX; // no dtype
  int64_t bytes = 0;
  if (detail::isKnown(desc.dtype())) {
    ft::DType dtype = detail::internal(desc.dtype());
    code = static_cast<uint8_t>(dtypeDLPackCode(dtype));
    bytes = dtypeBytes(dtype);
  }
  view = ft_tensor(data, code, static_cast<uint8_t>(bytes * 8),
                   static_cast<int32_t>(sizes.size()), nullptr);
  view.byte_offset =
      static_cast<uint64_t>(desc.offset()) * static_cast<uint64_t>(bytes);
  if (desc.device().kind == DeviceId::Cuda)
    view.device.device_type = kDLCUDA;
  else if (desc.device().kind != DeviceId::Cpu)
    view.device.device_type = static_cast<DLDeviceType>(0); // holds no data
  if (desc.strides() && strides.size() != sizes.size())
    view.ndim = kMalformed;
  view.device.device_id = desc.device().index;
  view.strides = desc.strides() ? strides.data() : nullptr;
}

DLTensor RealTensor::dlpack() const {
  DLTensor tensor = view;
  tensor.shape = const_cast<int64_t *>(sizes.data());
  if (view.strides)
    tensor.strides = const_cast<int64_t *>(strides.data());
  return tensor;
}

} // namespace ft

namespace ft::detail {

static std::optional<ft::DType> dtypeOf(const DLDataType &type) {
  if (type.lanes != 1)
    return std::nullopt;
  static constexpr ft::DType kAll[] = {
#define FT_DTYPE(name, torchName, bytes, dlpackCode) ft::DType::name,
#include "dialects/ft/DTypes.def"
#undef FT_DTYPE
  };
  for (ft::DType dtype : kAll)
    if (dtypeDLPackCode(dtype) == type.code &&
        dtypeBytes(dtype) * 8 == type.bits)
      return dtype;
  return std::nullopt;
}

static std::optional<ft::Device> deviceOf(const DLDevice &device) {
  ft::Device result;
  if (device.device_type == kDLCPU)
    return result;
  if (device.device_type != kDLCUDA)
    return std::nullopt;
  result.kind = ft::Device::Cuda;
  result.index = device.device_id;
  return result;
}

static bool sameOwner(const std::weak_ptr<void> &a,
                      const std::shared_ptr<void> &b) {
  return !a.owner_before(b) && !b.owner_before(a);
}

std::optional<uint32_t>
TraceState::storageAt(const char *data,
                      const std::shared_ptr<void> &owner) const {
  for (uint32_t s = 0; s < storages.size(); ++s) {
    const TraceStorage &storage = storages[s];
    if (!storage.base || (storage.hasOwner && storage.owner.expired()))
      continue;
    if (owner && storage.hasOwner ? sameOwner(storage.owner, owner)
                                  : storage.base == data)
      return s;
  }
  return std::nullopt;
}

uint32_t TraceState::addStorage(const char *data,
                                const std::shared_ptr<void> &owner) {
  uint32_t index = addStorage();
  storages[index].base = data;
  storages[index].owner = owner;
  storages[index].hasOwner = owner != nullptr;
  return index;
}

Tensor TraceState::fake(const RealTensor &real, llvm::StringRef name,
                        TensorKind kind, const Here &here) {
  DLTensor tensor = real.dlpack();
  auto refuse = [&](DiagId id, const llvm::Twine &message) {
    fail(id, here, message);
    return failedTensor();
  };
  if (tensor.ndim < 0)
    return refuse(DiagId::FakeShape,
                  "a tensor with data is malformed: its number of dims is "
                  "negative, it has no list of sizes, or not one stride for "
                  "each size");
  std::optional<ft::DType> dtype = dtypeOf(tensor.dtype);
  if (!dtype) {
    // Twine takes an uint8_t for a character.
    unsigned code = tensor.dtype.code, bits = tensor.dtype.bits,
             lanes = tensor.dtype.lanes;
    std::string type = "DLPack type code " + std::to_string(code) + ", " +
                       std::to_string(bits) + " bits";
    if (lanes != 1)
      type += ", " + std::to_string(lanes) + " lanes";
    return refuse(DiagId::FakeDtype,
                  "a tensor of " + type + " cannot be made fake");
  }
  std::optional<ft::Device> device = deviceOf(tensor.device);
  if (!device)
    return refuse(DiagId::FakeDevice,
                  "a tensor on DLPack device " +
                      llvm::Twine(static_cast<int>(tensor.device.device_type)) +
                      " cannot be made fake; known are CPU and CUDA");

  RealKey key{tensor.data, tensor.byte_offset, external(*dtype), {}, {}};
  key.sizes.assign(tensor.shape, tensor.shape + tensor.ndim);
  if (tensor.strides)
    key.strides.assign(tensor.strides, tensor.strides + tensor.ndim);
  for (auto it = known.begin(); it != known.end();)
    it = it->second.gone() ? known.erase(it) : std::next(it);
  auto it = known.find(key);
  if (it != known.end())
    return handle(it->second.tensor);

  const char *data = static_cast<const char *>(tensor.data);
  const std::shared_ptr<void> &owner = real.holder();
  std::optional<uint32_t> storage = storageAt(data, owner);
  int64_t elementBytes = dtypeBytes(*dtype);
  int64_t start = static_cast<int64_t>(tensor.byte_offset);
  if (storage)
    start += data - storages[*storage].base;
  if (start < 0 || start % elementBytes)
    return refuse(DiagId::TraceMisuse,
                  "a view starts " + llvm::Twine(start) +
                      " bytes behind the first tensor that was seen of its "
                      "storage: that is no element of it; make the tensor "
                      "that the storage begins with fake first");
  TensorDesc desc(key.sizes, external(*dtype), external(*device));
  if (tensor.strides)
    desc.strides(key.strides);
  desc.offset(start / elementBytes);
  TensorMeta meta;
  if (!describe(desc, meta, here))
    return failedTensor();

  int64_t last = desc.offset();
  for (size_t i = 0; i < meta.sizes.size(); ++i)
    last += (meta.sizes[i].value() - 1) * meta.strides[i].value();
  if (!storage)
    storage = addStorage(data, owner);
  TraceStorage &memory = storages[*storage];
  memory.bytes = std::max(memory.bytes, (last + 1) * elementBytes);

  std::string ownName =
      name.empty() ? uniqueName("constant") : std::string(name);
  Tensor fakeTensor = addArgument(kind, ownName, meta, *storage, here);
  TraceTensor *added = tensorOf(fakeTensor);
  if (!added)
    return fakeTensor;
  bool canRequireGrad = isFloating(*dtype) || isComplex(*dtype);
  added->requiresGrad =
      (real.requires_grad() || kind == TensorKind::Parameter) && canRequireGrad;
  if (kind == TensorKind::Constant && memory.base &&
      device->kind == ft::Device::Cpu)
    if (ConstantPtr value = readConstant(added->meta, memory.base))
      scope->setConstant(dataKey(idOf(fakeTensor)), std::move(value));
  known[std::move(key)] = {idOf(fakeTensor), owner, owner != nullptr};
  return fakeTensor;
}

} // namespace ft::detail

namespace ft {

using detail::TraceState;

std::vector<NamedTensor> FakeMode::fake(const std::vector<NamedReal> &module,
                                        Here here) {
  // A storage begins where the first of its tensors does, whichever comes first
  // in the module.
  std::vector<const RealTensor *> byAddress;
  byAddress.reserve(module.size());
  for (const NamedReal &item : module)
    byAddress.push_back(&item.tensor);
  auto address = [](const RealTensor *real) {
    return static_cast<const char *>(real->dlpack().data);
  };
  std::sort(byAddress.begin(), byAddress.end(),
            [&](const RealTensor *a, const RealTensor *b) {
              return std::less<>()(address(a), address(b));
            });
  for (const RealTensor *real : byAddress)
    if (!state->storageAt(address(real), real->holder()))
      state->addStorage(address(real), real->holder());
  std::vector<NamedTensor> fakes;
  fakes.reserve(module.size());
  for (const NamedReal &item : module)
    fakes.push_back(
        {item.name, state->fake(item.tensor, item.name, item.kind, here)});
  return fakes;
}

std::vector<NamedTensor> FakeMode::copy(const std::vector<NamedTensor> &module,
                                        const std::string &prefix, Here here) {
  using Key = std::pair<std::shared_ptr<detail::Origin>, uint32_t>;
  std::map<Key, uint32_t> storages;
  std::map<Key, Tensor> tensors;
  std::vector<NamedTensor> copies;
  for (const NamedTensor &item : module) {
    Tensor &copied = copies.emplace_back(NamedTensor{item.name, {}}).tensor;
    TraceState *from = TraceState::traceOf(item.tensor);
    const detail::TraceTensor *original = TraceState::tensorOf(item.tensor);
    if (!original) {
      state->fail(DiagId::TraceMisuse, here,
                  "the tensor '" + item.name +
                      "' of the module that is copied is not fake");
      copied = state->failedTensor();
      continue;
    }
    const std::shared_ptr<detail::Origin> &origin =
        TraceState::originOf(item.tensor);
    auto [known, isNew] =
        tensors.try_emplace({origin, TraceState::idOf(item.tensor)});
    if (isNew) {
      auto [storage, newStorage] =
          storages.try_emplace({origin, original->storage}, 0);
      if (newStorage) {
        // The copy begins with the same data.
        detail::TraceStorage memory = from->storages[original->storage];
        memory.version = 0;
        storage->second = state->addStorage();
        state->storages[storage->second] = std::move(memory);
      }
      const detail::TraceArgument *argument =
          from->argumentOf(TraceState::idOf(item.tensor));
      bool grad = original->requiresGrad;
      known->second = state->addArgument(
          argument ? argument->kind : TensorKind::Input, prefix + item.name,
          original->meta, storage->second, here);
      if (detail::TraceTensor *added = TraceState::tensorOf(known->second))
        added->requiresGrad = grad;
    }
    copied = known->second;
  }
  return copies;
}

Tensor find(const std::vector<NamedTensor> &module, const std::string &name) {
  for (const NamedTensor &item : module)
    if (item.name == name)
      return item.tensor;
  return {};
}

} // namespace ft
