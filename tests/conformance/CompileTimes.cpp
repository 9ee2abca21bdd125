//===- CompileTimes.cpp - How long programs of one call take --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "tests/conformance/CompileTimes.h"

#include "compiler/driver/Session.h"

#include "llvm/Support/FormatVariadic.h"

#include <ctime>
#include <map>

using namespace ft;
using namespace ft::conformance;

static double cpuMilliseconds() {
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return 1e3 * static_cast<double>(now.tv_sec) +
         1e-6 * static_cast<double>(now.tv_nsec);
}

static bool compiles(const std::string &text) {
  Options options;
  options.catchCrashes = true;
  Session session(options);
  return session.loadText(text, "call") && session.runTo(Stage::Codegen);
}

static double percentile(std::vector<double> &times, double part) {
  size_t k = static_cast<size_t>(part * static_cast<double>(times.size() - 1));
  std::nth_element(times.begin(), times.begin() + static_cast<long>(k),
                   times.end());
  return times[k];
}

void ft::conformance::measureCompileTimes(llvm::ArrayRef<ValueCase> tests,
                                          Report &report) {
  std::vector<double> times;
  std::map<std::string, double> slowest;
  mlir::MLIRContext context;
  for (const ValueCase &test : tests) {
    GraphBuilder graph(context, "call");
    addValueCall(graph, test);
    std::string text = graph.finish();
    double start = cpuMilliseconds();
    if (!compiles(text)) {
      report.skip("does not compile");
      continue;
    }
    double time = cpuMilliseconds() - start;
    times.push_back(time);
    slowest[test.op] = std::max(slowest[test.op], time);
    report.pass();
  }
  if (times.empty())
    return;
  llvm::outs() << llvm::formatv(
      "compile time of {0} calls: median {1:f1} ms, 90% within {2:f1} ms\n",
      times.size(), percentile(times, 0.5), percentile(times, 0.9));
  std::vector<std::pair<double, std::string>> order;
  for (const auto &[op, time] : slowest)
    order.emplace_back(-time, op);
  llvm::sort(order);
  for (const auto &[time, op] : llvm::ArrayRef(order).take_front(10))
    llvm::outs() << llvm::formatv("{0,8:f1} ms {1}\n", -time, op);
}
