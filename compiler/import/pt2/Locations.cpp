//===- Locations.cpp - Places in the user's own source ---------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/import/pt2/Locations.h"

#include "compiler/import/pt2/Schema.h"

#include "mlir/IR/Builders.h"

#include "llvm/ADT/SmallVector.h"

namespace ft::pt2 {

namespace {
struct Frame {
  llvm::StringRef file;
  unsigned line;
};
} // namespace

/// Deeper traces are cut: the innermost frames tell where an error is.
static constexpr size_t kMaxFrames = 16;

/// Reads lines of the form `  File "block.py", line 14, in forward`; the last
/// one is the innermost, and comes first in the result.
static llvm::SmallVector<Frame, 4> readFrames(llvm::StringRef trace) {
  llvm::SmallVector<Frame, 4> all, own;
  while (!trace.empty()) {
    llvm::StringRef line;
    std::tie(line, trace) = trace.split('\n');
    line = line.ltrim();
    if (!line.consume_front("File \""))
      continue;
    auto [file, rest] = line.split('"');
    Frame frame{file, 0};
    if (file.empty() || !rest.consume_front(", line ") ||
        rest.consumeInteger(10, frame.line))
      continue;
    all.push_back(frame);
    if (!file.contains("site-packages/") && !file.contains("dist-packages/"))
      own.push_back(frame);
  }
  llvm::SmallVector<Frame, 4> &chosen = own.empty() ? all : own;
  std::reverse(chosen.begin(), chosen.end());
  if (chosen.size() > kMaxFrames)
    chosen.truncate(kMaxFrames);
  return chosen;
}

/// "L__self__,,zoo.M;L__self__up,up,torch.nn.Linear" → "up: torch.nn.Linear".
static std::string innermostModule(llvm::StringRef stack) {
  llvm::StringRef last = stack.rsplit(';').second;
  if (last.empty())
    last = stack;
  auto [key, rest] = last.split(',');
  auto [path, type] = rest.split(',');
  if (type.empty())
    return "";
  return path.empty() ? type.str() : (path + ": " + type).str();
}

mlir::Location nodeLocation(mlir::MLIRContext &context, const Node &node) {
  mlir::Location place = mlir::UnknownLoc::get(&context);
  llvm::SmallVector<Frame, 4> frames = readFrames(node.stackTrace);
  for (const Frame &frame : llvm::reverse(frames)) {
    mlir::Location here =
        mlir::FileLineColLoc::get(&context, frame.file, frame.line, 0);
    place = llvm::isa<mlir::UnknownLoc>(place)
                ? here
                : mlir::Location(mlir::CallSiteLoc::get(here, place));
  }
  std::string module = innermostModule(node.moduleStack);
  if (!module.empty())
    place = mlir::FusedLoc::get(&context, {place},
                                mlir::StringAttr::get(&context, module));
  if (node.name.empty())
    return place;
  return mlir::NameLoc::get(mlir::StringAttr::get(&context, node.name), place);
}

std::string nodePlace(const Node &node, llvm::StringRef archive) {
  llvm::SmallVector<Frame, 4> frames = readFrames(node.stackTrace);
  std::string file =
      frames.empty()
          ? archive.str()
          : (frames[0].file + ":" + llvm::Twine(frames[0].line)).str();
  return node.name.empty() ? file : file + " (" + node.name + ")";
}

} // namespace ft::pt2
