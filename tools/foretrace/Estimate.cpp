//===- Estimate.cpp - foretrace estimate -----------------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/driver/MemoryEstimate.h"
#include "tools/foretrace/CompileOptions.h"
#include "tools/foretrace/Output.h"
#include "tools/foretrace/Verbs.h"

#include "llvm/Support/FormatVariadic.h"

#include <memory>

namespace ft::cli {

namespace {
struct EstimateVerb {
  CompileOptions common;
  std::string memory, solve;

  int run();
  int checkOptions(EstimateRequest &request);
};
} // namespace

using Rows = std::vector<std::vector<std::string>>;

static std::string bytes(int64_t number) {
  return bytesText(static_cast<uint64_t>(number));
}

static std::string textOf(const MemoryEstimate &m,
                          const EstimateRequest &request) {
  Rows rows;
  auto add = [&](const char *name, int64_t number, const std::string &expr) {
    rows.push_back({name, bytes(number), expr});
  };
  add("parameters", m.parametersBytes, "");
  if (m.buffersBytes)
    add("buffers", m.buffersBytes, "");
  if (m.training)
    add("gradients", m.gradientsBytes, "");
  if (m.optimizerBytes)
    add("optimizer", m.optimizerBytes, request.optimizer);
  add("inputs", m.inputsBytes, "");
  add("outputs", m.outputsBytes, "");
  add("peak", m.peakBytes, m.peakExpr);
  add("all", m.totalBytes, m.totalExpr);
  std::string text = table(rows);
  text += std::string("\nactivations ") +
          (m.training ? "saved for the backward pass, in the peak: "
                      : "computed, one after the other: ") +
          bytes(m.activationsBytes) +
          (m.activationsExpr.empty() ? "" : " = " + m.activationsExpr) + "\n";
  if (m.hasUnknownSizes)
    text += "values whose sizes the data decide are not in these numbers\n";
  if (request.memory && !m.largest)
    text += std::string(m.totalBytes <= *request.memory ? "fits"
                                                        : "does not "
                                                          "fit") +
            " in " + bytes(*request.memory) + "\n";
  if (m.largest) {
    text += "largest " + m.largest->symbol + " in " + bytes(*request.memory) +
            ": " + std::to_string(m.largest->value) + ", which takes " +
            bytes(m.largest->bytes);
    text += m.largest->nextBytes < 0
                ? std::string(" and is its upper bound\n")
                : "; " + std::to_string(m.largest->value + 1) + " takes " +
                      bytes(m.largest->nextBytes) + "\n";
  }
  if (!m.budgets.empty()) {
    Rows budgets{{"budget", "activations", "flops again", "products again"}};
    for (const ActivationsByBudget &row : m.budgets)
      budgets.push_back({llvm::formatv("{0:f3}", row.budget).str(),
                         bytes(row.bytes), std::to_string(row.recomputedFlops),
                         std::to_string(row.recomputedProducts)});
    text += "\n" + table(budgets);
  }
  Rows modules{{"module", "parameters", "activations"}};
  for (const ModuleMemory &row : m.modules)
    modules.push_back({row.name.empty() ? "(model)" : row.name,
                       bytes(row.parametersBytes),
                       bytes(row.activationsBytes)});
  return text + "\n" + table(modules);
}

static llvm::json::Object jsonOf(const MemoryEstimate &m,
                                 const EstimateRequest &request) {
  llvm::json::Object symbols;
  for (const SymbolSize &s : m.symbols)
    symbols[s.name] = llvm::json::Object{
        {"title", s.title},
        {"lower", s.lower},
        {"upper", s.upper < 0 ? llvm::json::Value(nullptr) : s.upper},
        {"hint", s.hint}};
  llvm::json::Array modules;
  for (const ModuleMemory &row : m.modules)
    modules.push_back(
        llvm::json::Object{{"name", row.name},
                           {"parameters_bytes", row.parametersBytes},
                           {"activations_bytes", row.activationsBytes}});
  llvm::json::Array budgets;
  for (const ActivationsByBudget &row : m.budgets)
    budgets.push_back(
        llvm::json::Object{{"budget", row.budget},
                           {"activations_bytes", row.bytes},
                           {"recomputed_flops", row.recomputedFlops},
                           {"recomputed_products", row.recomputedProducts}});
  llvm::json::Object root{{"parameters_bytes", m.parametersBytes},
                          {"buffers_bytes", m.buffersBytes},
                          {"gradients_bytes", m.gradientsBytes},
                          {"optimizer_bytes", m.optimizerBytes},
                          {"inputs_bytes", m.inputsBytes},
                          {"outputs_bytes", m.outputsBytes},
                          {"activations_bytes", m.activationsBytes},
                          {"peak_bytes", m.peakBytes},
                          {"total_bytes", m.totalBytes},
                          {"symbols", std::move(symbols)},
                          {"largest", nullptr},
                          {"modules", std::move(modules)}};
  if (m.hasUnknownSizes)
    root["has_unknown_sizes"] = true;
  if (m.training)
    root["budgets"] = std::move(budgets);
  for (auto [key, text] :
       {std::pair{"activations_bytes_expr", &m.activationsExpr},
        std::pair{"peak_bytes_expr", &m.peakExpr},
        std::pair{"total_bytes_expr", &m.totalExpr}})
    if (!text->empty())
      root[key] = *text;
  if (request.memory && !m.largest)
    root["fits"] = m.totalBytes <= *request.memory;
  if (m.largest) {
    root["largest"] = m.largest->value;
    root["largest_symbol"] = m.largest->symbol;
    root["largest_bytes"] = m.largest->bytes;
    if (m.largest->nextBytes >= 0)
      root["next_bytes"] = m.largest->nextBytes;
  }
  return root;
}

int EstimateVerb::checkOptions(EstimateRequest &request) {
  // Its state is counted, its update needs no arena of its own.
  request.optimizer = common.optimizer;
  if (!request.optimizer.empty()) {
    common.training = true;
    if (int code = common.checkOptimizer())
      return code;
    common.optimizer.clear();
  }
  if (!memory.empty()) {
    request.memory = parseBytes(memory);
    if (!request.memory)
      return fail(DiagId::BadCommandLine, "--memory",
                  "'" + memory + "' is no number of bytes",
                  "such as 80GiB, 512MB, 4096");
  }
  if (!solve.empty() && memory.empty())
    return fail(DiagId::BadCommandLine, "--solve",
                "there is no memory to solve for", "give --memory 80GiB");
  request.solve = solve;
  return 0;
}

int EstimateVerb::run() {
  EstimateRequest request;
  Options options;
  if (int code = checkOptions(request))
    return code;
  if (int code = common.fill(options))
    return code;
  std::unique_ptr<Session> session = std::make_unique<Session>(options);
  bool ok = session->load(common.model);
  // "batch" is what dim 0 of every input is, unless the model has such a size.
  if (ok && solve == "batch" && !hasSize(*session, solve) &&
      options.dynamic.empty() && options.examples.empty()) {
    options.dynamicBatch = true;
    session = std::make_unique<Session>(options);
    ok = session->load(common.model);
  }
  std::optional<MemoryEstimate> memory;
  if (ok)
    memory = estimateMemory(*session, request);
  report(session->diagnostics());
  if (common.time)
    reportTimes(*session);
  if (!memory)
    return session->exitCode();
  return common.json ? writeJson(jsonOf(*memory, request))
                     : writeProduct(textOf(*memory, request));
}

void addEstimate(CLI::App &app, int &exitCode) {
  CLI::App *verb =
      app.add_subcommand("estimate", "the memory of a model before it runs");
  auto state = std::make_shared<EstimateVerb>();
  state->common.addTo(*verb, "a .pt2 archive or .mlir text");
  verb->add_option("--memory", state->memory,
                   "what all must fit in: 80GiB, 512MB, 4096");
  verb->add_option("--solve", state->solve,
                   "the size whose largest value in --memory is looked for; "
                   "batch: dim 0 of every input, if no size is called so");
  verb->callback([state, &exitCode] { exitCode = state->run(); });
}

} // namespace ft::cli
