//===- CallForm.cpp - Random calls of a form that is a line ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tests/random/CallForm.h"

#include <map>
#include <optional>

using namespace ft;
using namespace ft::random;

namespace {
class FormReader {
public:
  FormReader(Sampler &s, llvm::StringRef text)
      : s(s), text(text), complex(text.contains("z[") && s.rng.chance(35)) {}
  bool run();

private:
  std::optional<Arg> term();
  std::optional<Arg> what();
  std::optional<Arg> list();
  std::optional<Arg> tensor(llvm::StringRef kind);
  std::optional<int64_t> size();
  std::optional<int64_t> factor();
  std::optional<double> bound();

  bool take(llvm::StringRef word) { return text.consume_front(word); }
  void space() { text = text.ltrim(); }

  Sampler &s;
  llvm::StringRef text;
  bool complex;
  std::map<char, int64_t> letters;
  size_t at = 0; ///< the argument that is read
};
} // namespace

/// The end of one alternative: a '|' or a space that is in no bracket.
static size_t endOfWhat(llvm::StringRef text) {
  int depth = 0;
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '\'')
      quoted = !quoted;
    if (quoted)
      continue;
    if (depth == 0 && (c == '|' || c == ' ' || c == ')'))
      return i;
    depth += c == '(' || c == '[';
    depth -= c == ')' || c == ']';
  }
  return text.size();
}

std::optional<int64_t> FormReader::factor() {
  int64_t sign = take("-") ? -1 : 1, number = 0;
  if (!text.consumeInteger(10, number))
    return sign * number;
  if (text.empty() || !llvm::isAlpha(text[0]))
    return std::nullopt;
  char letter = text[0];
  text = text.drop_front();
  auto [entry, isNew] = letters.try_emplace(letter);
  if (isNew)
    entry->second =
        llvm::isUpper(letter) ? s.rng.between(3, 6) : s.rng.between(1, 3);
  return sign * entry->second;
}

std::optional<int64_t> FormReader::size() {
  int64_t sum = 0, sign = 1;
  for (;;) {
    std::optional<int64_t> product = factor();
    while (product && take("*")) {
      std::optional<int64_t> next = factor();
      product = next ? std::optional(*product * *next) : std::nullopt;
    }
    if (!product)
      return std::nullopt;
    sum += sign * *product;
    if (take("+"))
      sign = 1;
    else if (take("-"))
      sign = -1;
    else
      return sum;
  }
}

std::optional<double> FormReader::bound() {
  // "0.1..0.9": a number ends before two dots.
  size_t end = text.find_first_not_of("-0123456789.");
  llvm::StringRef number = text.take_front(end);
  number = number.take_front(number.find(".."));
  double value;
  if (number.contains('.') && !number.getAsDouble(value)) {
    text = text.drop_front(number.size());
    return value;
  }
  if (std::optional<int64_t> whole = size())
    return double(*whole);
  return std::nullopt;
}

std::optional<Arg> FormReader::tensor(llvm::StringRef kind) {
  Shape shape;
  for (space(); !take("]"); space()) {
    std::optional<int64_t> next = size();
    if (!next || *next < 0)
      return std::nullopt;
    shape.push_back(*next);
  }
  std::optional<double> low, high;
  if (!text.empty() && text[0] != ' ' && text[0] != '|' && text[0] != ')') {
    low = bound();
    if (!low || !take(".."))
      return std::nullopt;
    high = bound();
    if (!high)
      return std::nullopt;
  }
  int value;
  if (kind == "int") {
    value = s.integers(shape,
                       {int64_t(low.value_or(0)), int64_t(high.value_or(3))});
  } else if (kind == "sign") {
    value = s.integers(shape, {0, 1});
    Tensor &data = s.program.values[value].data;
    for (int64_t i = 0; i < data.numel(); ++i)
      data.setInteger(i, 2 * data.integer(i) - 1);
  } else if (kind == "mask") {
    value = s.integers(shape, {0, 1}, DType::Bool);
  } else {
    value = s.input(kind == "z" && complex ? DType::C128 : DType::F64, shape);
    if (low)
      s.program.values[value].range = {*low, *high};
  }
  s.operands.push_back(value);
  return Arg::tensor(static_cast<int>(s.operands.size()) - 1);
}

std::optional<Arg> FormReader::list() {
  std::vector<Arg> items;
  for (space(); !take(")"); space()) {
    std::optional<Arg> item = term();
    if (!item)
      return std::nullopt;
    items.push_back(std::move(*item));
  }
  return Arg::listOf(std::move(items));
}

std::optional<Arg> FormReader::what() {
  for (llvm::StringRef kind : {"int", "sign", "mask", "z", ""})
    if (text.starts_with(kind) && text.substr(kind.size()).starts_with("[")) {
      text = text.drop_front(kind.size() + 1);
      return tensor(kind);
    }
  if (take("("))
    return list();
  if (take("?"))
    return Arg::truth(s.rng.chance(50));
  if (take("true"))
    return Arg::truth(true);
  if (take("false"))
    return Arg::truth(false);
  if (take("none"))
    return Arg::none();
  if (take("_"))
    return s.schema.args[at].defaultValue;
  if (take("'")) {
    size_t end = text.find('\'');
    llvm::StringRef word = text.take_front(end);
    text = text.drop_front(std::min(text.size(), word.size() + 1));
    return Arg::string(word);
  }
  llvm::StringRef word = text.take_front(endOfWhat(text));
  double real;
  if (word.contains('.') && !word.getAsDouble(real)) {
    text = text.drop_front(word.size());
    return Arg::floating(real);
  }
  if (std::optional<int64_t> whole = size())
    return Arg::integer(*whole);
  return std::nullopt;
}

std::optional<Arg> FormReader::term() {
  // Only what is chosen is read, so that nothing else makes an input.
  llvm::SmallVector<llvm::StringRef> choices;
  llvm::StringRef rest = text;
  for (;;) {
    llvm::StringRef choice = rest.take_front(endOfWhat(rest));
    choices.push_back(choice);
    rest = rest.drop_front(choice.size());
    if (!rest.consume_front("|"))
      break;
  }
  text = s.rng.of(choices);
  std::optional<Arg> arg = what();
  if (!text.empty())
    return std::nullopt;
  text = rest;
  return arg;
}

bool FormReader::run() {
  for (space(); !text.empty(); space(), ++at) {
    if (at == s.args.size())
      return false;
    std::optional<Arg> arg = term();
    if (!arg)
      return false;
    s.args[at] = std::move(*arg);
  }
  for (; at < s.args.size(); ++at)
    s.args[at] = s.schema.args[at].hasDefault ? s.schema.args[at].defaultValue
                                              : Arg::none();
  return true;
}

bool ft::random::sampleForm(Sampler &sampler, llvm::StringRef form) {
  return FormReader(sampler, form).run();
}
