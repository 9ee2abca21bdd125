//===- JsonTest.cpp - JSON, good and bad -----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/support/Json.h"

#include "gtest/gtest.h"

#include "compiler/support/Diagnostics.h"

#include <cmath>

using namespace ft;

namespace {

std::string error(llvm::StringRef text) {
  llvm::Expected<JsonDocument> document = JsonDocument::parse(text, "m");
  if (document)
    return "no error";
  Diagnostic d = takeDiagnostics(document.takeError())[0];
  llvm::StringRef message = d.message;
  message.consume_front("the text is not JSON: ");
  return (diagCode(d.id) + " " + message).str();
}

TEST(Json, Values) {
  llvm::StringRef text =
      " {\"a\": [1, -2.5, true, null, \"x\\u00e9\\ud83d\\ude00"
      "\\n\"], \"b\": {}, \"c\": [], \"a2\": 1e400,"
      " \"big\": 99999999999999999999} ";
  llvm::Expected<JsonDocument> document = JsonDocument::parse(text, "m");
  ASSERT_TRUE(bool(document)) << llvm::toString(document.takeError());
  const JsonValue &root = document->root();
  ASSERT_EQ(root.kind(), JsonValue::Object);
  llvm::ArrayRef<JsonValue> a = root.get("a")->array();
  ASSERT_EQ(a.size(), 5u);
  EXPECT_EQ(a[0].integer(), 1);
  EXPECT_EQ(a[0].real(), 1.0);
  EXPECT_EQ(a[1].real(), -2.5);
  EXPECT_TRUE(a[2].boolean());
  EXPECT_TRUE(a[3].isNull());
  EXPECT_EQ(a[4].string(), "x\xc3\xa9\xf0\x9f\x98\x80\n");
  EXPECT_TRUE(root.get("b")->object().empty());
  EXPECT_TRUE(root.get("c")->array().empty());
  EXPECT_EQ(root.get("none"), nullptr);
  EXPECT_TRUE(std::isinf(root.get("a2")->real()));
  EXPECT_EQ(root.get("big")->kind(), JsonValue::Real);
  // A string without escapes stays in the text.
  EXPECT_EQ(root.object()[0].key.data(), text.data() + 3);
}

TEST(Json, Refused) {
  EXPECT_EQ(error(""), "FT0104 the text ends too early at line 1, column 1");
  EXPECT_EQ(error("{\"a\": 1,\n \"b\""),
            "FT0104 expected ':' at line 2, column 5");
  EXPECT_EQ(error("[1 2]"), "FT0104 expected ',' or ']' at line 1, column 4");
  EXPECT_EQ(error("[1,]"), "FT0104 expected a value at line 1, column 4");
  EXPECT_EQ(error("nul"), "FT0104 expected a value at line 1, column 1");
  EXPECT_EQ(error("NaN"), "FT0104 expected a value at line 1, column 1");
  EXPECT_EQ(error("01"), "FT0104 a number starts with 0 at line 1, column 3");
  EXPECT_EQ(error("1."), "FT0104 a number ends in '.' at line 1, column 3");
  EXPECT_EQ(error("1 2"), "FT0104 text after the document at line 1, column 3");
  EXPECT_EQ(error("\"a"), "FT0104 a string does not end at line 1, column 3");
  EXPECT_EQ(error("\"\\x\""),
            "FT0104 an unknown escape in a string at line 1, column 4");
  EXPECT_EQ(error("\"\xff\""), "FT0104 byte 1 is not UTF-8");
}

TEST(Json, Depth) {
  std::string deep(256, '[');
  EXPECT_EQ(error(deep + std::string(256, ']')), "no error");
  EXPECT_EQ(error(std::string(100000, '[')),
            "FT0105 the JSON text is nested deeper than 256 levels at line 1, "
            "column 257");
}

} // namespace
