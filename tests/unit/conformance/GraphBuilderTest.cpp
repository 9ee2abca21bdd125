//===- GraphBuilderTest.cpp - Programs from recorded nodes ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tests/conformance/GraphBuilder.h"

#include "tests/conformance/ModelsCommand.h"

#include <fstream>
#include <gtest/gtest.h>

using namespace ft;
using namespace ft::conformance;

static llvm::Expected<ModelMeta> metaOfText(llvm::StringRef text) {
  std::string path = testing::TempDir() + "graph.meta.json";
  std::ofstream(path) << text.str();
  return readModelMeta(path);
}

static std::string build(const ModelMeta &meta) {
  mlir::DialectRegistry registry;
  registry.insert<FtDialect, mlir::func::FuncDialect>();
  mlir::MLIRContext context(registry);
  context.loadAllAvailableDialects();
  llvm::Expected<std::string> text = buildGraph(context, "m", meta);
  return text ? *text : "error: " + llvm::toString(text.takeError());
}

static const char kGraph[] = R"({"nodes": [
  {"name": "x", "op": "placeholder", "target": "x", "args": [], "kwargs": {},
   "val": {"dtype": "float32", "shape": ["2", "3"], "stride": ["3", "1"],
           "offset": "0", "device": "cpu"}},
  {"name": "max_1", "op": "call_function", "target": "aten.max.dim",
   "args": [{"n": "x"}, 1], "kwargs": {},
   "val": [{"dtype": "float32", "shape": ["2"], "stride": ["1"],
            "offset": "0", "device": "cpu"},
           {"dtype": "int64", "shape": ["2"], "stride": ["1"],
            "offset": "0", "device": "cpu"}]},
  {"name": "getitem", "op": "call_function", "target": "getitem",
   "args": [{"n": "max_1"}, 0], "kwargs": {},
   "val": {"dtype": "float32", "shape": ["2"], "stride": ["1"],
           "offset": "0", "device": "cpu"}},
  {"name": "output", "op": "output", "target": "output",
   "args": [[{"n": "getitem"}]], "kwargs": {}}],
 "inputs": [{"kind": "BUFFER", "arg": "x", "target": "m.x"}],
 "outputs": [{"kind": "USER_OUTPUT", "arg": "getitem", "target": null}],
 "verified": [true, "Guard failed"]})";

// A result goes by the name of the getitem node that takes it; one that none
// takes gets the name that an archive would give it.
TEST(GraphBuilder, NamesResultsByTheirUsers) {
  llvm::Expected<ModelMeta> meta = metaOfText(kGraph);
  ASSERT_TRUE(static_cast<bool>(meta));
  std::string text = build(*meta);
  EXPECT_NE(text.find("ft.name = [\"getitem\", \"max_1_unused_1\"]"),
            std::string::npos)
      << text;
  EXPECT_NE(text.find("ft.kind = \"buffer\", ft.name = \"x\", ft.target = "
                      "\"m.x\""),
            std::string::npos)
      << text;
  EXPECT_EQ(meta->refusals[1], "Guard failed");
}

TEST(GraphBuilder, NamesTheNodeThatItCannotBuild) {
  llvm::Expected<ModelMeta> meta = metaOfText(kGraph);
  ASSERT_TRUE(static_cast<bool>(meta));
  meta->nodes[1].target = "aten.no_such_thing.default";
  EXPECT_EQ(build(*meta),
            "error: node 'max_1' (aten.no_such_thing.default): no such "
            "operator in the table");
}

TEST(Models, ChoosesTheCasesOfAVariant) {
  EXPECT_EQ(casesOf("static", 3), (std::vector<unsigned>{0}));
  EXPECT_EQ(casesOf("train", 1), (std::vector<unsigned>{0}));
  EXPECT_EQ(casesOf("dynb", 3), (std::vector<unsigned>{0, 2}));
  EXPECT_EQ(casesOf("dynb", 2), (std::vector<unsigned>{0, 1}));
  EXPECT_EQ(casesOf("dynbs", 3), (std::vector<unsigned>{0, 1}));
  EXPECT_EQ(casesOf("dynb", 5), (std::vector<unsigned>{0, 2, 3, 4}));
  EXPECT_EQ(casesOf("dd", 2), (std::vector<unsigned>{0, 1}));
}
