//===- RunSizes.cpp - The sizes of made-up inputs --------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/driver/RunSizes.h"

#include "compiler/support/Diagnostics.h"

#include "llvm/ADT/STLExtras.h"

#include <optional>

namespace ft {

/// Whether symbol number `symbol` can be read from this dim: it is the one that
/// the model reads, or one with the same expression.
static bool reads(const LoadedModel &model, const ft_symbol_info &symbol,
                  const ft_value_info &input, int32_t dim) {
  if (symbol.input < 0)
    return false;
  const ft_value_info &source = *model.info().inputs[symbol.input];
  return (&source == &input && symbol.dim == dim) ||
         llvm::StringRef(source.dims[symbol.dim]) == input.dims[dim];
}

/// The symbol's value in a dim of this size: rounded down, which the model
/// refuses with a sentence of its own when the shapes come out different.
static int64_t valueOf(const ft_symbol_info &symbol, int64_t size) {
  return (size - symbol.offset) / symbol.scale;
}

static const ft_value_info *findInput(const ft_model_info &info,
                                      llvm::StringRef name) {
  for (int32_t i = 0; i < info.num_inputs; ++i)
    if (name == info.inputs[i]->name)
      return info.inputs[i];
  return nullptr;
}

llvm::Error RunSizes::askSymbol(size_t symbol, int64_t value) {
  auto [before, isNew] = asked.try_emplace(symbol, value);
  if (isNew || before->second == value)
    return llvm::Error::success();
  return makeError(DiagId::RunTensor, "",
                   llvm::Twine(model->symbols()[symbol]->title) + " is to be " +
                       llvm::Twine(before->second) + " and " +
                       llvm::Twine(value));
}

llvm::Error RunSizes::ask(llvm::StringRef dim, int64_t size) {
  const ft_model_info &info = model->info();
  std::string titles;
  for (auto [i, symbol] : llvm::enumerate(model->symbols())) {
    if (symbol->input < 0)
      continue;
    if (dim == symbol->title)
      return askSymbol(i, size);
    titles += (titles.empty() ? "" : ", ") + std::string(symbol->title);
  }
  auto [name, number] = dim.rsplit(':');
  const ft_value_info *input = findInput(info, name);
  int32_t index = -1;
  if (!input || number.getAsInteger(10, index) || index < 0 ||
      index >= input->ndim)
    return makeError(
        DiagId::BadCommandLine, "",
        input && !number.empty()
            ? "input '" + name + "' has " + llvm::Twine(input->ndim) +
                  " dims, '" + number + "' is none of them"
            : "the model has no size '" + dim + "'",
        titles.empty()
            ? "all its sizes are fixed"
            : "it takes INPUT:DIM, such as x:0, or a name: " + titles);
  for (auto [i, symbol] : llvm::enumerate(model->symbols()))
    if (reads(*model, *symbol, *input, index)) {
      if ((size - symbol->offset) % symbol->scale != 0)
        return makeError(DiagId::RunTensor, "",
                         "'" + dim + "' is " + input->dims[index] +
                             ", which is not " + llvm::Twine(size) +
                             " for any " + symbol->title);
      return askSymbol(i, valueOf(*symbol, size));
    }
  if (input->sizes[index] < 0)
    return makeError(DiagId::BadCommandLine, "",
                     "the size of '" + dim + "' follows from others: it is " +
                         input->dims[index],
                     "it takes one of " + titles);
  if (input->sizes[index] == size)
    return llvm::Error::success();
  return makeError(DiagId::RunTensor, "",
                   "'" + dim + "' is always " +
                       llvm::Twine(input->sizes[index]) + ", not " +
                       llvm::Twine(size),
                   "compile the model with that size, or a dynamic one");
}

llvm::Expected<std::vector<RunShape>>
RunSizes::inputShapes(llvm::ArrayRef<std::unique_ptr<HostArray>> given) const {
  const ft_model_info &info = model->info();
  llvm::ArrayRef<const ft_symbol_info *> symbols = model->symbols();
  std::vector<RunShape> shapes;
  for (int32_t i = 0; i < info.num_inputs; ++i)
    shapes.emplace_back(info.inputs[i]->sizes,
                        info.inputs[i]->sizes + info.inputs[i]->ndim);
  if (symbols.empty())
    return shapes;

  std::vector<int64_t> values;
  for (auto [s, symbol] : llvm::enumerate(symbols)) {
    std::optional<int64_t> value;
    for (int32_t i = 0; i < info.num_inputs && !value; ++i) {
      const ft_value_info &input = *info.inputs[i];
      // Of another rank: the run says so.
      if (!given[i] || given[i]->shape.size() != size_t(input.ndim))
        continue;
      for (int32_t d = 0; d < input.ndim && !value; ++d)
        if (reads(*model, *symbol, input, d))
          value = valueOf(*symbol, given[i]->shape[d]);
    }
    auto wish = asked.find(s);
    if (wish != asked.end() && value && *value != wish->second)
      return makeError(DiagId::RunTensor, "",
                       llvm::Twine(symbol->title) + " is to be " +
                           llvm::Twine(wish->second) +
                           ", an input that is given has " +
                           llvm::Twine(*value));
    if (wish != asked.end())
      value = wish->second;
    values.push_back(value.value_or(symbol->hint));
  }
  std::vector<DLTensor> tensors;
  for (RunShape &shape : shapes)
    tensors.push_back(
        ft_tensor(nullptr, 0, 0, int32_t(shape.size()), shape.data()));
  if (llvm::Error error = toError(model->api().input_shapes(
          model->instance(), values.data(), int32_t(values.size()),
          tensors.data(), int32_t(tensors.size()))))
    return std::move(error);
  // Guards may say what a size is by others, whatever was asked.
  for (auto [s, size] : asked) {
    const ft_symbol_info &symbol = *symbols[s];
    int64_t value = valueOf(symbol, shapes[symbol.input][symbol.dim]);
    if (value != size)
      return makeError(DiagId::RunTensor, "",
                       llvm::Twine(symbol.title) + " is to be " +
                           llvm::Twine(size) + ", which the model makes " +
                           llvm::Twine(value) + " of the other sizes");
  }
  return shapes;
}

} // namespace ft
