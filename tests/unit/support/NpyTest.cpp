//===- NpyTest.cpp - .npy files, good and bad ------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/support/Npy.h"

#include "gtest/gtest.h"

#include "compiler/support/Diagnostics.h"
#include "tests/unit/support/ZipWriter.h"

using namespace ft;
using namespace ft::test;

namespace {

/// A file of version 1.0 with this header and this many data bytes.
std::string file(const std::string &header, size_t dataBytes, char major = 1) {
  std::string out = "\x93NUMPY";
  out += major;
  out += '\0';
  ZipWriter::put(out, header.size(), major == 1 ? 2 : 4);
  return out + header + std::string(dataBytes, 'x');
}

std::string error(const std::string &bytes) {
  llvm::Expected<NpyArray> array = readNpy(bytesOf(bytes), "x.npy");
  return array ? "no error" : takeDiagnostics(array.takeError())[0].message;
}

TEST(Npy, RoundTrip) {
  for (auto [dtype, bytes] : {std::pair("bool", 1),
                              {"float16", 2},
                              {"bfloat16", 2},
                              {"float32", 4},
                              {"int64", 8},
                              {"uint16", 2},
                              {"complex128", 16}}) {
    for (std::vector<int64_t> shape :
         {std::vector<int64_t>{}, {3}, {2, 3}, {0, 4}, {1, 1, 2}}) {
      int64_t count = 1;
      for (int64_t d : shape)
        count *= d;
      std::vector<uint8_t> data(count * bytes, 7);
      std::string out;
      llvm::raw_string_ostream os(out);
      ASSERT_FALSE(writeNpy(os, dtype, shape, data, "x.npy"));
      EXPECT_EQ((out.size() - data.size()) % 64, 0u);
      llvm::Expected<NpyArray> array = readNpy(bytesOf(out), "x.npy");
      ASSERT_TRUE(bool(array)) << llvm::toString(array.takeError());
      EXPECT_EQ(array->dtype, dtype);
      EXPECT_EQ(llvm::ArrayRef<int64_t>(array->shape),
                llvm::ArrayRef<int64_t>(shape));
      EXPECT_EQ(array->data, llvm::ArrayRef<uint8_t>(data));
    }
  }
}

TEST(Npy, FortranOrder) {
  std::string bytes = file(
      "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }\n", 24, 2);
  llvm::Expected<NpyArray> array = readNpy(bytesOf(bytes), "x.npy");
  ASSERT_TRUE(bool(array));
  EXPECT_TRUE(array->fortranOrder);
  EXPECT_EQ(array->strides[0], 1);
  EXPECT_EQ(array->strides[1], 2);
}

TEST(Npy, Refused) {
  auto header = [](const std::string &descr, const std::string &shape) {
    return "{'descr': " + descr +
           ", 'fortran_order': False, 'shape': " + shape + ", }\n";
  };
  EXPECT_EQ(error("hello"), "the file is not a .npy file");
  EXPECT_EQ(error(file("", 0, 9)), "the .npy version 9.0 is not known");
  EXPECT_EQ(error(file(header("'<f4'", "(2,)"), 8).substr(0, 40)),
            "the .npy header is cut");
  EXPECT_EQ(error(file("{'descr': '<f4'}", 4)),
            "the .npy header is not understood");
  EXPECT_EQ(error(file(header("'>f4'", "(2,)"), 8)),
            "the array is big endian; only little endian is read");
  EXPECT_EQ(error(file(header("'|O'", "(2,)"), 8)),
            "the array's dtype '|O' is not a tensor's");
  EXPECT_EQ(error(file(header("[('a', '<f4')]", "(2,)"), 8)),
            "a structured array is not a tensor");
  EXPECT_EQ(error(file(header("'<f4'", "(2, 3)"), 23)),
            "the array has 23 bytes; its shape and dtype need 24");
  EXPECT_EQ(error(file(header("'<f4'", "(-2, 3)"), 24)),
            "the array's shape has the size -2, sizes are not negative");
  EXPECT_EQ(error(file(header("'<f4'", "(4294967296, 4294967296, 0)"), 0)),
            "the array's shape is too large");
}

TEST(Npy, NoSuchDtype) {
  std::string out;
  llvm::raw_string_ostream os(out);
  EXPECT_EQ(
      takeDiagnostics(writeNpy(os, "float8_e5m2", {}, {}, "x"))[0].message,
      "a float8_e5m2 tensor cannot be written as .npy");
}

} // namespace
