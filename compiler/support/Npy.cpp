//===- Npy.cpp - Reads and writes .npy files -------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/support/Npy.h"

#include "compiler/support/Diagnostics.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/MathExtras.h"

#include <string>

namespace ft {

static constexpr char kMagic[] = "\x93NUMPY";
static constexpr size_t kMagicSize = 6;

namespace {
struct Kind {
  llvm::StringLiteral dtype;
  llvm::StringLiteral npy;
  uint64_t bytes;
};
} // namespace

static constexpr Kind kKinds[] = {
    {"bool", "b1", 1},    {"int8", "i1", 1},      {"int16", "i2", 2},
    {"int32", "i4", 4},   {"int64", "i8", 8},     {"uint8", "u1", 1},
    {"uint16", "u2", 2},  {"uint32", "u4", 4},    {"uint64", "u8", 8},
    {"float16", "f2", 2}, {"bfloat16", "V2", 2},  {"float32", "f4", 4},
    {"float64", "f8", 8}, {"complex64", "c8", 8}, {"complex128", "c16", 16},
};

int64_t NpyArray::elements() const {
  int64_t count = 1;
  for (int64_t d : shape)
    count *= d;
  return count;
}

static llvm::Error bad(llvm::StringRef where, const llvm::Twine &message) {
  return makeError(DiagId::BadNpy, where, message,
                   "write it with numpy.save(path, array)");
}

namespace {
/// The header is the text of a Python dict with three known keys:
/// {'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }
struct HeaderReader {
  llvm::StringRef rest;

  bool eat(llvm::StringRef token) {
    rest = rest.ltrim(" \n\t");
    return rest.consume_front(token);
  }
  bool string(llvm::StringRef &value) {
    rest = rest.ltrim(" \n\t");
    if (rest.empty() || (rest.front() != '\'' && rest.front() != '"'))
      return false;
    char quote = rest.front();
    size_t end = rest.find(quote, 1);
    if (end == llvm::StringRef::npos)
      return false;
    value = rest.slice(1, end);
    rest = rest.drop_front(end + 1);
    return true;
  }
  bool shape(llvm::SmallVectorImpl<int64_t> &dims) {
    if (!eat("("))
      return false;
    while (!eat(")")) {
      int64_t dim;
      if (rest.consumeInteger(10, dim))
        return false;
      eat("L"); // Python 2 wrote long integers this way
      dims.push_back(dim);
      if (!eat(",")) {
        // "(3)" is no tuple, but numpy's own reader takes it too.
        return eat(")");
      }
    }
    return true;
  }
};
} // namespace

llvm::Expected<NpyArray> readNpy(llvm::ArrayRef<uint8_t> bytes,
                                 llvm::StringRef where) {
  llvm::StringRef text(reinterpret_cast<const char *>(bytes.data()),
                       bytes.size());
  if (!text.starts_with(llvm::StringRef(kMagic, kMagicSize)) ||
      text.size() < 10)
    return bad(where, "the file is not a .npy file");
  unsigned major = bytes[6], minor = bytes[7];
  if (major < 1 || major > 3 || minor != 0)
    return bad(where, "the .npy version " + llvm::Twine(major) + "." +
                          llvm::Twine(minor) + " is not known");
  size_t start = major == 1 ? 10 : 12;
  if (text.size() < start)
    return bad(where, "the .npy header is cut");
  uint64_t length = major == 1
                        ? llvm::support::endian::read16le(bytes.data() + 8)
                        : llvm::support::endian::read32le(bytes.data() + 8);
  if (length > text.size() - start)
    return bad(where, "the .npy header is cut");

  HeaderReader reader{text.substr(start, length)};
  NpyArray array;
  llvm::StringRef descr;
  bool haveDescr = false, haveOrder = false, haveShape = false;
  bool ok = reader.eat("{");
  while (ok && !reader.eat("}")) {
    llvm::StringRef key;
    ok = reader.string(key) && reader.eat(":");
    if (!ok)
      break;
    if (key == "descr" && !haveDescr) {
      // A list of fields is a structured array, which has no dtype of ours.
      if (reader.eat("["))
        return bad(where, "a structured array is not a tensor");
      ok = haveDescr = reader.string(descr);
    } else if (key == "fortran_order" && !haveOrder) {
      array.fortranOrder = reader.eat("True");
      ok = haveOrder = array.fortranOrder || reader.eat("False");
    } else if (key == "shape" && !haveShape) {
      ok = haveShape = reader.shape(array.shape);
      for (int64_t d : array.shape)
        if (d < 0)
          return bad(where, "the array's shape has the size " + llvm::Twine(d) +
                                ", sizes are not negative");
    } else {
      ok = false;
    }
    if (ok && !reader.eat(","))
      ok = reader.rest.ltrim(" \n\t").starts_with("}");
  }
  if (!ok || !haveDescr || !haveOrder || !haveShape)
    return bad(where, "the .npy header is not understood");

  if (descr.starts_with(">"))
    return bad(where, "the array is big endian; only little endian is read");
  llvm::StringRef kind = descr;
  if (!kind.empty() && llvm::StringRef("<|=").contains(kind.front()))
    kind = kind.drop_front();
  const Kind *known =
      llvm::find_if(kKinds, [&](const Kind &k) { return k.npy == kind; });
  if (known == std::end(kKinds))
    return bad(where, "the array's dtype '" + descr.take_front(40) +
                          "' is not a tensor's");
  array.dtype = known->dtype;
  array.elementBytes = known->bytes;

  // Strides and the total, refusing what does not fit 63 bits.
  size_t rank = array.shape.size();
  array.strides.resize(rank);
  int64_t count = 1;
  bool overflow = false, empty = false;
  for (size_t i = 0; i < rank; ++i) {
    size_t dim = array.fortranOrder ? i : rank - 1 - i;
    array.strides[dim] = count;
    // A zero extent makes the array empty but must not hide an overflow.
    empty |= array.shape[dim] == 0;
    int64_t extent = array.shape[dim] ? array.shape[dim] : 1;
    overflow |= llvm::MulOverflow(count, extent, count);
    if (overflow)
      break;
  }
  int64_t total;
  if (overflow ||
      llvm::MulOverflow(count, static_cast<int64_t>(known->bytes), total))
    return bad(where, "the array's shape is too large");
  if (empty)
    total = 0;
  array.data = bytes.drop_front(start + length);
  if (array.data.size() != static_cast<uint64_t>(total))
    return bad(where, "the array has " + llvm::Twine(array.data.size()) +
                          " bytes; its shape and dtype need " +
                          llvm::Twine(total));
  return array;
}

llvm::Error writeNpy(llvm::raw_ostream &os, llvm::StringRef dtype,
                     llvm::ArrayRef<int64_t> shape,
                     llvm::ArrayRef<uint8_t> data, llvm::StringRef where) {
  const Kind *known =
      llvm::find_if(kKinds, [&](const Kind &k) { return k.dtype == dtype; });
  if (known == std::end(kKinds))
    return makeError(DiagId::BadNpy, where,
                     "a " + dtype + " tensor cannot be written as .npy",
                     "let the model convert it to float32");
  std::string header = "{'descr': '";
  header += known->bytes == 1 ? '|' : '<';
  header += known->npy;
  header += "', 'fortran_order': False, 'shape': (";
  header += llvm::join(
      llvm::map_range(shape, [](int64_t d) { return std::to_string(d); }),
      ", ");
  header += shape.size() == 1 ? ",), }" : "), }";
  // The data start at a multiple of 64, the header ends in a line break.
  size_t unpadded = kMagicSize + 4 + header.size() + 1;
  header.append(llvm::alignTo(unpadded, 64) - unpadded, ' ');
  header += '\n';
  if (header.size() > 0xffff)
    return makeError(DiagId::BadNpy, where, "the array has too many dims");
  os << llvm::StringRef(kMagic, kMagicSize) << '\x01' << '\0'
     << static_cast<char>(header.size() & 0xff)
     << static_cast<char>(header.size() >> 8) << header;
  os.write(reinterpret_cast<const char *>(data.data()), data.size());
  return llvm::Error::success();
}

} // namespace ft
