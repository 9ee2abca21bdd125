//===- main.cpp - Traces Llama 3 with 70 billion parameters ----*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <chrono>
#include <compiler/driver/MemoryEstimate.h>
#include <cstdio>
#include <foretrace/trace.h>
#include <sys/resource.h>

using ft::Tensor;

namespace {
struct Llama {
  int64_t layers = 80, width = 8192, hidden = 28672, vocabulary = 128256;
  int64_t heads = 64, keyHeads = 8, headWidth = 128;

  ft::FakeMode &mode;

  Tensor weight(const std::string &name, std::vector<int64_t> sizes) {
    return mode.parameter(name, {std::move(sizes), ft::kBfloat16});
  }

  Tensor linear(const Tensor &x, const std::string &name, int64_t in,
                int64_t out) {
    return ft::ops::linear(x, weight(name + ".weight", {out, in}));
  }

  Tensor norm(const Tensor &x, const std::string &name) {
    Tensor wide = x.to(ft::kFloat32);
    Tensor scale = ft::ops::rsqrt(wide.pow(2).mean({-1}, true) + 1e-5);
    return weight(name + ".weight", {width}) * (wide * scale).to(ft::kBfloat16);
  }

  // Rotates pairs of features by angles that grow with the position.
  static Tensor rotate(const Tensor &x, const Tensor &cos, const Tensor &sin) {
    auto halves = x.chunk(2, -1);
    return x * cos + ft::ops::cat({-halves[1], halves[0]}, -1) * sin;
  }

  Tensor attention(const Tensor &x, const std::string &name, const Tensor &cos,
                   const Tensor &sin) {
    auto split = [&](const Tensor &t, int64_t count) {
      return t.view({x.size(0), x.size(1), count, headWidth}).transpose(1, 2);
    };
    int64_t keyWidth = keyHeads * headWidth;
    Tensor q = split(linear(x, name + ".q_proj", width, width), heads);
    Tensor k = split(linear(x, name + ".k_proj", width, keyWidth), keyHeads);
    Tensor v = split(linear(x, name + ".v_proj", width, keyWidth), keyHeads);
    Tensor y = ft::ops::scaled_dot_product_attention(
        rotate(q, cos, sin), rotate(k, cos, sin), v, {}, 0.0,
        /*is_causal=*/true, {}, /*enable_gqa=*/true);
    y = y.transpose(1, 2).reshape({x.size(0), x.size(1), width});
    return linear(y, name + ".o_proj", width, width);
  }

  Tensor feedForward(const Tensor &x, const std::string &name) {
    Tensor gate = linear(x, name + ".gate_proj", width, hidden);
    Tensor up = linear(x, name + ".up_proj", width, hidden);
    return linear(gate.silu() * up, name + ".down_proj", hidden, width);
  }

  Tensor forward(const Tensor &ids) {
    Tensor x = ft::ops::embedding(
        weight("model.embed_tokens.weight", {vocabulary, width}), ids);
    Tensor position = ft::ops::arange(ids.size(1), ft::kFloat32);
    Tensor rate = ft::ops::pow(
        500000.0, ft::ops::arange(0, headWidth, 2, ft::kFloat32) / -headWidth);
    Tensor angle = position.unsqueeze(1) * rate;
    angle = ft::ops::cat({angle, angle}, -1);
    Tensor cos = angle.cos().to(ft::kBfloat16);
    Tensor sin = angle.sin().to(ft::kBfloat16);
    for (int64_t i = 0; i < layers; ++i) {
      std::string name = "model.layers." + std::to_string(i);
      x = x + attention(norm(x, name + ".input_layernorm"), name + ".self_attn",
                        cos, sin);
      x = x + feedForward(norm(x, name + ".post_attention_layernorm"),
                          name + ".mlp");
    }
    return linear(norm(x, "model.norm"), "lm_head", width, vocabulary);
  }
};
} // namespace

static double peakMegabytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

static void print(const char *what, int64_t bytes) {
  std::printf("%-11s %.1f GiB\n", what, static_cast<double>(bytes) / (1 << 30));
}

/// What a training step with AdamW would take: again without any data.
static bool estimate(ft::FakeMode &mode) {
  auto start = std::chrono::steady_clock::now();
  ft::Options options;
  options.training = true;
  ft::Session session(options);
  std::optional<ft::MemoryEstimate> memory;
  if (session.load(mode))
    memory = ft::estimateMemory(session, {.optimizer = "adamw"});
  for (const ft::Diagnostic &d : session.diagnostics())
    std::fputs(d.render().c_str(), stderr);
  if (!memory)
    return false;
  print("weights", memory->parametersBytes);
  print("gradients", memory->gradientsBytes);
  print("optimizer", memory->optimizerBytes);
  print("saved", memory->activationsBytes);
  print("peak", memory->peakBytes);
  for (const ft::ActivationsByBudget &row : memory->budgets)
    std::printf("budget %.3f keeps %.1f GiB, %lld products again\n", row.budget,
                static_cast<double>(row.bytes) / (1 << 30),
                static_cast<long long>(row.recomputedProducts));
  std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  std::fprintf(stderr, "estimated in %.2f s\n", took.count());
  return true;
}

int main() {
  double before = peakMegabytes();
  auto start = std::chrono::steady_clock::now();

  ft::FakeMode mode;
  ft::FakeMode::Scope scope(mode);
  Llama llama{.mode = mode};
  Tensor logits = llama.forward(mode.input("ids", {{1, 2048}, ft::kInt64}));
  mode.output("logits", logits);

  std::chrono::duration<double, std::milli> took =
      std::chrono::steady_clock::now() - start;
  if (!mode.ok()) {
    std::fputs(mode.error().render().c_str(), stderr);
    return 1;
  }
  std::printf("parameters  %lld\n",
              static_cast<long long>(mode.numParameterElements()));
  std::printf("operations  %zu\n", mode.numOperations());
  std::printf("logits      %s\n", logits.str().c_str());
  std::fprintf(stderr, "%.1f ms, %.1f MB\n", took.count(),
               peakMegabytes() - before);
  return estimate(mode) ? 0 : 1;
}
