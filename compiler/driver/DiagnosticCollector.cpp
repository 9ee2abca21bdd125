//===- DiagnosticCollector.cpp - MLIR's messages as rows -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/driver/DiagnosticCollector.h"

#include "mlir/IR/Location.h"

namespace ft {

std::string placeText(mlir::Location location, llvm::StringRef file) {
  std::string place, name;
  location->walk([&](mlir::Location part) {
    if (auto named = llvm::dyn_cast<mlir::NameLoc>(part)) {
      if (name.empty())
        name = named.getName().str();
    } else if (auto line = llvm::dyn_cast<mlir::FileLineColLoc>(part)) {
      if (place.empty() && line.getLine() != 0) {
        place =
            (line.getFilename().getValue() + ":" + llvm::Twine(line.getLine()))
                .str();
        if (line.getColumn() != 0)
          place += ":" + std::to_string(line.getColumn());
      }
    }
    return mlir::WalkResult::advance();
  });
  if (place.empty())
    place = file.str();
  if (name.empty())
    return place;
  return place.empty() ? name : place + " (" + name + ")";
}

DiagnosticCollector::DiagnosticCollector(mlir::MLIRContext &context,
                                         llvm::StringRef file, DiagId fallback,
                                         std::vector<Diagnostic> &into)
    : file(file), fallback(fallback), into(into),
      handler(&context, [this](mlir::Diagnostic &d) { take(d); }) {}

void DiagnosticCollector::take(mlir::Diagnostic &diagnostic) {
  std::string text = diagnostic.str();
  llvm::StringRef rest = text;
  DiagId id = fallback;
  // "[FT0302] …"
  bool labelled = rest.starts_with("[FT") && rest.size() > 7 &&
                  rest[7] == ']' && findDiag(rest.slice(1, 7), id);
  if (labelled)
    rest = rest.drop_front(8).ltrim();
  else if (diagnostic.getSeverity() != mlir::DiagnosticSeverity::Error)
    return; // remarks and notes of MLIR's own passes
  auto [message, help] = rest.split("\nhelp: ");
  Diagnostic row{id, placeText(diagnostic.getLocation(), file),
                 message.rtrim().str(), help.rtrim().str()};
  if (!labelled)
    for (const mlir::Diagnostic &note : diagnostic.getNotes())
      row.message += "; " + note.str();
  into.push_back(std::move(row));
}

} // namespace ft
