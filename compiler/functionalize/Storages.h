//===- Storages.h - The present value of each storage ----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A storage is a base value and the tree of its views. A write through a view
// makes a new base: the view's new elements are put back into its parent, that
// into its own parent, and so on. Views that are read afterwards are made anew
// from the base, by the call that made them.
//
//   %v = select(%x, 0, 1)                %v = select(%x, 0, 1)
//   add_(%v, 1)                  →       %w = add(%v, 1)
//   %y = mul(%x, 2)                      %x1 = select_scatter(%x, %w, 0, 1)
//                                        %y = mul(%x1, 2)
//
// Invariant: `current` of a node is its value as of `version`; it is stale once
// the storage's version has moved on. Cost: a write costs one call for each
// view between it and the base, a stale read as many.

#ifndef FORETRACE_COMPILER_FUNCTIONALIZE_STORAGES_H
#define FORETRACE_COMPILER_FUNCTIONALIZE_STORAGES_H

#include "dialects/ft/AtenCall.h"

#include <deque>

namespace ft {

class FakeScope;

/// A tensor that shares a storage: the base, or a view of another node.
struct StorageNode {
  StorageNode *base = nullptr;
  StorageNode *parent = nullptr;
  /// The call that makes it from its parent, and which of its results it is;
  /// null if it is the parent itself under another name.
  mlir::Operation *view = nullptr;
  unsigned result = 0;
  mlir::Value current;
  /// Of the base: how often it was written. Of others: when `current` was.
  unsigned version = 0;
};

/// What is special about a write.
struct StorageWrite {
  /// Gradients are switched off: the elements change, what the tensor is a
  /// function of does not.
  bool keepsHistory = false;
  /// All elements are the same, so that places which overlap agree.
  bool isUniform = false;
};

class Storages {
public:
  /// What is known of symbols decides the layouts of the calls that it makes.
  Storages(mlir::OpBuilder &builder, FakeScope &scope)
      : builder(builder), scope(scope) {}

  StorageNode *nodeOf(mlir::Value value) const { return nodes.lookup(value); }
  /// A value with storage of its own.
  StorageNode *addBase(mlir::Value value);
  /// `value` is result `result` of `view`, a call on the node `parent`.
  StorageNode *addView(mlir::Value value, StorageNode *parent,
                       mlir::Operation *view, unsigned result);
  /// `value` is another name of `node`; also moves an existing name.
  void bind(mlir::Value value, StorageNode *node) { nodes[value] = node; }
  /// The tensor `from`, under all its names, is `to` from here on: its
  /// metadata, or its storage, has been changed.
  void move(StorageNode *from, StorageNode *to);
  /// The tensor has these sizes from here on, row-major from its own offset; a
  /// storage that is too small for them grows, with zeros. Other tensors keep
  /// their elements. Fails with the reason.
  mlir::LogicalResult resize(StorageNode *node, llvm::ArrayRef<Dim> sizes,
                             mlir::Location loc, std::string &reason);

  /// The node's value now, made at the builder's insertion point if stale.
  mlir::Value read(StorageNode *node, mlir::Location loc);
  /// Replaces the node's elements by those of `value`, which has its sizes.
  /// Fails, with the reason in `reason`, if a view cannot be undone.
  mlir::LogicalResult write(StorageNode *node, mlir::Value value,
                            const StorageWrite &how, mlir::Location loc,
                            std::string &reason);

private:
  mlir::Value undo(StorageNode *node, mlir::Value value, bool isUniform,
                   mlir::Location loc, std::string &reason);
  mlir::Value undoByPositions(StorageNode *node, mlir::Value parent,
                              mlir::Value value, mlir::Location loc);
  mlir::LogicalResult grow(StorageNode *base, Dim elements, mlir::Location loc,
                           std::string &reason);
  mlir::OpBuilder &builder;
  FakeScope &scope;
  std::deque<StorageNode> all;
  llvm::DenseMap<mlir::Value, StorageNode *> nodes;
};

/// Builds a call at the insertion point and annotates its results; the value of
/// the first one. Null after an error, which has been reported.
mlir::Value buildCall(mlir::OpBuilder &builder, FakeScope &scope,
                      mlir::Location loc, llvm::StringRef overload,
                      llvm::ArrayRef<Arg> arguments, mlir::ValueRange operands);

} // namespace ft

#endif // FORETRACE_COMPILER_FUNCTIONALIZE_STORAGES_H
