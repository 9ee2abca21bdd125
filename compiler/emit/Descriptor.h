//===- Descriptor.h - The description inside a compiled model --*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_COMPILER_EMIT_DESCRIPTOR_H
#define FORETRACE_COMPILER_EMIT_DESCRIPTOR_H

#include "compiler/emit/Artefact.h"

#include "llvm/ADT/StringRef.h"

namespace ft {

/// What the descriptor says beyond the artefact itself.
struct DescriptorContent {
  std::string compileId;
  uint64_t weightsDataHash = 0;
  uint64_t weightsHeaderHash = 0;
  /// The weights, when they go into the library.
  const std::string *inlineWeights = nullptr;
};

/// An ELF object that defines ft_gen_desc (runtime/src/abi.h) and the exported
/// NAME_api. Built as LLVM IR, for the oldest x86-64, so that the description
/// can be read on any CPU and no C compiler is needed. FT0070 for a feature
/// that the runtime has no check for.
llvm::Expected<std::string> buildDescriptor(const Artefact &artefact,
                                            const DescriptorContent &content);

/// Is this LLVM feature name one that loading checks, or may ignore? A target
/// whose code uses another one must not be offered.
bool isKnownCpuFeature(llvm::StringRef name);

/// "foretrace 0.1.0".
llvm::StringRef compilerVersion();

} // namespace ft

#endif // FORETRACE_COMPILER_EMIT_DESCRIPTOR_H
