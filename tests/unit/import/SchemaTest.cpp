//===- SchemaTest.cpp - Programs and tensors of archives -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/import/pt2/Schema.h"

#include "gtest/gtest.h"

#include "compiler/support/Diagnostics.h"

#include <cmath>

using namespace ft;
using namespace ft::pt2;

namespace {

/// A program of one node, whose pieces can be replaced.
struct Text {
  std::string arg = R"({"as_tensor": {"name": "x"}})";
  std::string sizes = R"([{"as_int": 2}])";
  std::string version = R"({"major": 8, "minor": 20})";
  std::string ranges = "{}";
  std::string more;

  std::string str() const {
    return R"({"graph_module": {"graph": {
      "inputs": [{"as_tensor": {"name": "x"}}],
      "outputs": [{"as_tensor": {"name": "y"}}],
      "nodes": [{"target": "torch.ops.aten.relu.default",
                 "inputs": [{"name": "self", "arg": )" +
           arg + R"(, "kind": 1}],
                 "outputs": [{"as_tensor": {"name": "y"}}],
                 "metadata": {"stack_trace": "here"}, "name": "relu"}],
      "tensor_values": {"x": {"dtype": 7, "sizes": )" +
           sizes + R"(, "requires_grad": false,
        "device": {"type": "cuda", "index": 1}, "strides": [{"as_int": 1}],
        "storage_offset": {"as_int": 0}, "layout": 7}}},
      "signature": {
        "input_specs": [{"user_input": {"arg": {"as_tensor": {"name": "x"}}}}],
        "output_specs": [{"user_output": {"arg": {"as_tensor":
                                                  {"name": "y"}}}}]}},
      "range_constraints": )" +
           ranges + R"(, "schema_version": )" + version + more + "}";
  }
};

std::string error(const Text &text) {
  Program program;
  llvm::Error e = readProgramJson(text.str(), "m", program);
  return e ? takeDiagnostics(std::move(e))[0].message : "no error";
}

Argument argument(const std::string &json) {
  Text text;
  text.arg = json;
  Program program;
  if (llvm::Error e = readProgramJson(text.str(), "m", program)) {
    ADD_FAILURE() << llvm::toString(std::move(e));
    return {};
  }
  return program.graph.nodes[0].inputs[0].value;
}

TEST(Schema, Program) {
  Text text;
  text.sizes = R"j([{"as_expr": {"expr_str": "Symbol('s0')",
                                 "hint": {"as_int": 4}}}])j";
  text.ranges = R"({"s0": {"min_val": 2, "max_val": 9223372036854775806},
                    "a": {"min_val": null, "max_val": 7}})";
  text.more = R"(, "some_later_field": [1, 2])";
  Program program;
  llvm::Error e = readProgramJson(text.str(), "m", program);
  ASSERT_FALSE(bool(e)) << llvm::toString(std::move(e));
  EXPECT_EQ(program.graph.nodes[0].target, "torch.ops.aten.relu.default");
  EXPECT_EQ(program.graph.nodes[0].stackTrace, "here");
  const TensorInfo &x = program.graph.tensors["x"];
  EXPECT_EQ(x.dtype->name, "float32");
  EXPECT_EQ(x.device.str(), "cuda:1");
  EXPECT_EQ(x.sizes[0].expr, "Symbol('s0')");
  EXPECT_EQ(x.sizes[0].hint, 4);
  ASSERT_EQ(program.ranges.size(), 2u);
  EXPECT_EQ(program.ranges[0].symbol, "a");
  EXPECT_FALSE(program.ranges[0].lower);
  EXPECT_EQ(program.ranges[1].lower, 2);
  EXPECT_FALSE(program.ranges[1].upper); // the exporter's infinity
}

TEST(Schema, Arguments) {
  EXPECT_EQ(argument(R"({"as_none": true})").kind, Argument::None);
  EXPECT_EQ(argument(R"({"as_int": -3})").integer, -3);
  EXPECT_EQ(argument(R"({"as_float": "-Infinity"})").real, -INFINITY);
  EXPECT_TRUE(std::isnan(argument(R"({"as_float": "NaN"})").real));
  EXPECT_EQ(argument(R"({"as_sym_int": {"as_int": 4}})").kind, Argument::Int);
  Argument sizes =
      argument(R"({"as_sym_ints": [{"as_name": "n"}, {"as_int": 8}]})");
  ASSERT_EQ(sizes.list.size(), 2u);
  EXPECT_EQ(sizes.list[0].kind, Argument::SymInt);
  EXPECT_EQ(sizes.list[0].text, "n");
  EXPECT_EQ(sizes.list[1].integer, 8);
  Argument indices = argument(
      R"({"as_optional_tensors": [{"as_none": true},
                                  {"as_tensor": {"name": "i"}}]})");
  EXPECT_EQ(indices.list[0].kind, Argument::None);
  EXPECT_EQ(indices.list[1].text, "i");
  Argument nested = argument(R"({"as_int_lists": [[1, 2], []]})");
  EXPECT_EQ(nested.list[0].list[1].integer, 2);
  Argument complex = argument(R"({"as_complex": {"real": 1, "imag": -2.5}})");
  EXPECT_EQ(complex.imag, -2.5);
  Argument dictionary =
      argument(R"({"as_string_to_argument": {"k": {"as_bool": true}}})");
  EXPECT_EQ(dictionary.keys[0], "k");
  EXPECT_EQ(layoutName(7), "strided");
  EXPECT_EQ(memoryFormatName(2), "channels_last");
}

TEST(Schema, Subgraph) {
  std::string graph = R"({"inputs": [], "outputs": [], "nodes": [],
                          "tensor_values": {}})";
  Argument a = argument(R"({"as_graph": {"name": "true_graph_0", "graph": )" +
                        graph + "}}");
  ASSERT_TRUE(a.graph != nullptr);
  EXPECT_EQ(a.text, "true_graph_0");
}

TEST(Schema, MistakesHavePlaces) {
  Text text;
  text.arg = R"({"as_tensors": [{"name": "x"}, {"nome": "y"}]})";
  EXPECT_EQ(error(text), "graph_module.graph.nodes[0].inputs[0].arg."
                         "as_tensors[1]: the key 'name' is missing");
  text = {};
  text.arg = R"({"as_int": 1, "as_float": 2})";
  EXPECT_EQ(error(text), "graph_module.graph.nodes[0].inputs[0].arg: expected "
                         "an object with one key, found 2");
  text = {};
  text.arg = R"({"as_int": 1.5})";
  EXPECT_EQ(error(text), "graph_module.graph.nodes[0].inputs[0].arg.as_int: "
                         "expected an integer, found another number");
  text = {};
  text.sizes = R"([{"as_int": -1}])";
  EXPECT_EQ(error(text), "graph_module.graph.tensor_values.x.sizes[0]: a size "
                         "of -1 is negative");
  text = {};
  text.sizes = "[]";
  EXPECT_EQ(error(text),
            "graph_module.graph.tensor_values.x: 0 sizes but 1 strides");
  text = {};
  text.ranges = R"({"s0": {"min_val": 3, "max_val": 2}})";
  EXPECT_EQ(error(text), "range_constraints.s0: the range is empty");
  text = {};
  text.version = R"({"major": "8"})";
  EXPECT_EQ(error(text),
            "schema_version.major: expected an integer, found a string");
}

TEST(Schema, Version) {
  // The version is told before anything else is looked at.
  Text text;
  text.version = R"({"major": 9, "minor": 0})";
  text.sizes = "7";
  EXPECT_EQ(error(text), "the program is of schema version 9; version 8 is "
                         "read");
}

/// The extent of a tensor in a record of 100 bytes.
std::string extent(std::vector<int64_t> sizes, std::vector<int64_t> strides,
                   int64_t offset, uint64_t bytes = 100) {
  TensorRecord tensor;
  tensor.record = "r";
  tensor.info.dtype = findScalarType(7);
  tensor.info.layout = "strided";
  tensor.info.offset.number = offset;
  for (size_t i = 0; i < sizes.size(); ++i) {
    tensor.info.sizes.push_back({sizes[i], "", {}});
    tensor.info.strides.push_back({strides[i], "", {}});
  }
  llvm::Error e = checkExtent("t", tensor, bytes, "m");
  return e ? takeDiagnostics(std::move(e))[0].message : "fits";
}

TEST(Schema, Extents) {
  EXPECT_EQ(extent({5, 5}, {5, 1}, 0), "fits");
  EXPECT_EQ(extent({5, 5}, {5, 1}, 1),
            "tensor 't' needs 104 bytes of its record 'r', which has 100");
  EXPECT_EQ(extent({}, {}, 24), "fits");
  EXPECT_EQ(extent({25}, {0}, 24), "fits");              // expanded
  EXPECT_EQ(extent({0, 1000}, {1000, 1}, 1000), "fits"); // empty
  EXPECT_EQ(extent({}, {}, 0, 0),
            "tensor 't' needs 4 bytes of its record 'r', which has 0");
  for (auto [size, stride] :
       {std::pair(INT64_MAX, int64_t(2)), {2, INT64_MAX}, {1 << 30, 1LL << 40}})
    EXPECT_EQ(extent({size, size}, {stride, stride}, 1),
              "tensor 't' needs more than 2^63 bytes of its record 'r', which "
              "has 100");
}

} // namespace
