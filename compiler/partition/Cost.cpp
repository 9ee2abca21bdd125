//===- Cost.cpp - What it costs to compute a value again -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/partition/Cost.h"

#include "dialects/ft/CustomOps.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/Support/MathExtras.h"

#include <cmath>

namespace ft {

namespace {

/// How the operations of a call are counted; see Cost.def.
enum class Work : uint8_t {
  None,
  Results,     // elements of the first result
  Operands,    // elements of the largest operand
  Contraction, // elements of the result times the size that is summed over
  Chain,       // products of matrices, from left to right
  Bilinear,
  Einsum, // the product of the sizes of all its indices
  TensorDot,
  Convolution, // a weight, but for one of its dims, for each position
  ConvolutionBackward,
  Attention,
  AttentionBackward,
  Recurrent,   // each weight once for each position
  Window,      // elements of the result times those of a window
  Logarithmic, // n log n
  Cubic        // elements of a matrix times its smaller side
};

struct Row {
  RecomputeClass recompute = RecomputeClass::Never;
  Work work = Work::None;
  double factor = 0;
};

/// The row of each overload, by its position in the table of schemas.
class CostTable {
public:
  static const CostTable &get() {
    static const CostTable table;
    return table;
  }
  const Row &of(const Schema &schema) const {
    // What a custom operator's kernel does is not known.
    static const Row custom = {RecomputeClass::Expensive};
    static const Row effects = {RecomputeClass::Never};
    if (const CustomOp *op = customOp(schema))
      return op->hasEffects || schema.mutates ? effects : custom;
    return rows[schema.index];
  }

private:
  CostTable() {
    llvm::StringMap<Row> families, names;
#define FT_COST_FAMILY(family, recompute, work, factor)                        \
  families[#family] = {RecomputeClass::recompute, Work::work, factor};
#define FT_COST(name, recompute, work, factor)                                 \
  names[#name] = {RecomputeClass::recompute, Work::work, factor};
#include "compiler/partition/Cost.def"
    for (const Schema &schema : SchemaTable::get().all()) {
      auto it = names.find(schema.name);
      if (it == names.end())
        it = names.find(schema.base);
      if (it == names.end())
        it = names.find(schema.base.drop_back(schema.base.ends_with("_")));
      // A family without a row is Never: safe, and the tests find it.
      Row row = it == names.end() ? families.lookup(schema.family) : it->second;
      if (schema.mutates)
        row.recompute = RecomputeClass::Never;
      rows.push_back(row);
    }
  }
  std::vector<Row> rows;
};

/// The shapes of one call, as the formulas ask for them.
class Call {
public:
  Call(const Schema &callSchema, llvm::ArrayRef<Arg> callArgs,
       llvm::ArrayRef<TensorMeta> tensorOperands,
       llvm::ArrayRef<TensorMeta> tensorResults)
      : schema(callSchema), args(callArgs), operands(tensorOperands),
        results(tensorResults) {
    for (const Arg &arg : args)
      collect(arg);
  }

  /// Operations, without the row's factor.
  Dim count(Work work) const;
  Dim bytesRead() const;
  Dim bytesWritten() const;
  bool dropsOut() const;

private:
  void collect(const Arg &arg) {
    if (arg.kind == Arg::Tensor)
      tensors.push_back(&operands[arg.operand]);
    for (const Arg &element : arg.list)
      collect(element);
  }

  const Arg *find(llvm::StringRef name) const {
    int i = schema.argIndex(name);
    return i < 0 ? nullptr : &args[i];
  }
  /// The tensor of the first of these arguments that the call has, or null.
  const TensorMeta *tensor(llvm::ArrayRef<llvm::StringRef> names) const {
    for (llvm::StringRef name : names)
      if (const Arg *arg = find(name); arg && arg->kind == Arg::Tensor)
        return &operands[arg->operand];
    return nullptr;
  }
  /// A list of integers; a single one stands for all that the schema asks for.
  Dims integers(llvm::StringRef name) const;

  Dim result() const { return results.empty() ? Dim(0) : results[0].numel(); }
  Dim largestOperand() const {
    Dim largest = 0;
    for (const TensorMeta *t : tensors)
      largest = maxDim(largest, t->numel());
    return largest;
  }

  Dim contraction() const;
  Dim chain() const;
  Dim bilinear() const;
  Dim einsum() const;
  Dim tensorDot() const;
  Dim convolution(Dim positions) const;
  Dim convolutionForward() const;
  Dim convolutionBackward() const;
  Dim attention(int64_t perKey, int64_t perValue, int64_t perScore) const;
  Dim recurrent() const;
  Dim window() const;
  Dim logarithmic() const;
  Dim cubic() const;

  const Schema &schema;
  llvm::ArrayRef<Arg> args;
  llvm::ArrayRef<TensorMeta> operands, results;
  /// Those that arguments refer to, in order.
  llvm::SmallVector<const TensorMeta *, 4> tensors;
};

} // namespace

static Dim lastOf(const TensorMeta &t) {
  return t.sizes.empty() ? Dim(1) : t.sizes.back();
}

/// Elements that lie at different places in memory.
static Dim distinctElements(const TensorMeta &t) {
  Dim n = 1;
  for (auto [size, stride] : llvm::zip(t.sizes, t.strides))
    if (!stride.is(0))
      n = n * size;
    else if (size.is(0))
      return 0;
  return n;
}

static Dim bytesOf(const TensorMeta &t, Dim elements) {
  return elements * Dim(dtypeBytes(t.dtype));
}

static Dim scaled(Dim count, double factor) {
  if (factor == std::floor(factor))
    return count * Dim(static_cast<int64_t>(factor));
  return floorDiv(count * Dim(std::llround(factor * 100)), 100);
}

Dims Call::integers(llvm::StringRef name) const {
  Dims list;
  const Arg *arg = find(name);
  if (!arg)
    return list;
  if (arg->kind == Arg::Int)
    list.push_back(arg->dim);
  for (const Arg &element : arg->list)
    list.push_back(element.dim);
  int length = schema.args[schema.argIndex(name)].type.fixedLength;
  if (list.size() == 1 && length > 1)
    list.assign(length, Dim(list[0]));
  return list;
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

Dim Call::contraction() const {
  const TensorMeta *left = tensor({"cdist", "mat1", "batch1", "mat", "input",
                                   "x1", "self", "tensor", "x", "mat_a"});
  if (!left)
    return largestOperand();
  Dim n = result() * lastOf(*left);
  // addbmm adds the products of the batch up.
  if (left->rank() == 3 && !results.empty() && results[0].rank() == 2 &&
      find("batch1"))
    n = n * left->sizes[0];
  return n;
}

Dim Call::chain() const {
  if (tensors.size() < 2 || llvm::any_of(tensors, [](const TensorMeta *t) {
        return t->sizes.empty();
      }))
    return largestOperand();
  const TensorMeta &first = *tensors[0];
  Dim rows = first.rank() == 1 ? Dim(1) : first.sizes[0], total = 0;
  for (size_t i = 1; i < tensors.size(); ++i) {
    const TensorMeta &next = *tensors[i];
    Dim columns = next.rank() == 1 ? Dim(1) : next.sizes[1];
    total = total + rows * next.sizes[0] * columns;
  }
  return total;
}

Dim Call::bilinear() const {
  const TensorMeta *a = tensor({"input1", "i1"});
  const TensorMeta *b = tensor({"input2", "i2"});
  return a && b ? result() * lastOf(*a) * lastOf(*b) : largestOperand();
}

/// "bhqd,bhkd->bhqk": b h q d k. An ellipsis stands for what its operand has
/// besides, counted once.
Dim Call::einsum() const {
  const Arg *equation = find("equation");
  if (!equation)
    return largestOperand();
  llvm::StringRef rest = llvm::StringRef(equation->str).split("->").first;
  std::string seen;
  Dim total = 1, others = 1;
  for (const TensorMeta *t : tensors) {
    llvm::StringRef term;
    std::tie(term, rest) = rest.split(',');
    std::string letters;
    size_t ellipsis = std::string::npos;
    for (char c : term) {
      if (c == '.' && ellipsis == std::string::npos)
        ellipsis = letters.size();
      if (c != '.' && c != ' ')
        letters += c;
    }
    if (letters.size() > t->sizes.size())
      return largestOperand();
    size_t skipped = t->sizes.size() - letters.size();
    Dim own = 1;
    for (size_t i = 0; i < t->sizes.size(); ++i) {
      if (i >= ellipsis && i < ellipsis + skipped) {
        own = own * t->sizes[i];
        continue;
      }
      size_t at = i < ellipsis ? i : i - skipped;
      if (at >= letters.size())
        return largestOperand();
      if (seen.find(letters[at]) != std::string::npos)
        continue;
      seen += letters[at];
      total = total * t->sizes[i];
    }
    others = maxDim(others, own);
  }
  return total * others;
}

Dim Call::tensorDot() const {
  const TensorMeta *self = tensor({"self"});
  Dim n = result();
  for (Dim d : integers("dims_self")) {
    int64_t rank = self ? self->rank() : 0;
    int64_t at = d.isStatic() ? d.value() + (d.value() < 0 ? rank : 0) : -1;
    if (at >= 0 && at < rank)
      n = n * self->sizes[at];
  }
  return n;
}

//===----------------------------------------------------------------------===//
// Convolutions
//===----------------------------------------------------------------------===//

/// Each of `positions` (elements of the result, or of the input of a transposed
/// one) takes all of a weight but for one of its dims.
Dim Call::convolution(Dim positions) const {
  const TensorMeta *weight = tensor({"weight"});
  if (!weight || weight->sizes.empty())
    return largestOperand();
  Dim outputs = schema.base == "conv_tbc" ? lastOf(*weight) : weight->sizes[0];
  if (outputs.is(0))
    return 0;
  return Dim(2) * positions * floorDiv(weight->numel(), outputs);
}

static bool isTrue(const Arg *arg) {
  return arg && arg->kind == Arg::Bool && arg->boolean;
}

Dim Call::convolutionForward() const {
  bool transposed =
      schema.base.starts_with("conv_transpose") || isTrue(find("transposed"));
  const TensorMeta *input = tensor({"input", "self"});
  return convolution(transposed && input ? input->numel() : result());
}

Dim Call::convolutionBackward() const {
  bool transposed = isTrue(find("transposed"));
  const TensorMeta *grad = tensor({"grad_output"});
  const TensorMeta *input = tensor({"input"});
  const Arg *mask = find("output_mask");
  if (!grad || !input || !mask || mask->list.size() != 3)
    return largestOperand();
  Dim one = convolution(transposed ? input->numel() : grad->numel());
  Dim n = mask->list[2].boolean ? grad->numel() : Dim(0);
  for (unsigned i : {0, 1})
    if (mask->list[i].boolean)
      n = n + one;
  return n;
}

//===----------------------------------------------------------------------===//
// Attention and recurrence
//===----------------------------------------------------------------------===//

Dim Call::attention(int64_t perKey, int64_t perValue, int64_t perScore) const {
  const TensorMeta *q = tensor({"query"}), *k = tensor({"key"});
  const TensorMeta *v = tensor({"value"});
  if (!q || !k || !v || q->rank() < 2 || k->rank() < 2 || lastOf(*q).is(0))
    return largestOperand();
  Dim scores = floorDiv(q->numel(), lastOf(*q)) * k->sizes[k->rank() - 2];
  return scores * (Dim(perKey) * lastOf(*q) + Dim(perValue) * lastOf(*v) +
                   Dim(perScore));
}

Dim Call::recurrent() const {
  const TensorMeta *input = tensor({"input", "data"});
  if (!input || lastOf(*input).is(0))
    return largestOperand();
  Dim weights = 0;
  auto add = [&](const Arg &arg) {
    if (arg.kind == Arg::Tensor)
      weights = weights + operands[arg.operand].numel();
  };
  if (const Arg *params = find("params"))
    llvm::for_each(params->list, add);
  for (llvm::StringRef name : {"w_ih", "w_hh"})
    if (const Arg *weight = find(name))
      add(*weight);
  return floorDiv(input->numel(), lastOf(*input)) * weights;
}

//===----------------------------------------------------------------------===//
// Others
//===----------------------------------------------------------------------===//

Dim Call::window() const {
  Dims kernel = integers("kernel_size");
  if (kernel.empty()) // adaptive: each element is in one window, or few
    return largestOperand();
  bool backward = schema.base.ends_with("_backward") && !tensors.empty();
  Dim n = backward ? tensors[0]->numel() : result();
  for (Dim size : kernel)
    n = n * size;
  return n;
}

/// n log2 n; a symbolic size is taken for a thousand.
Dim Call::logarithmic() const {
  Dim n = maxDim(largestOperand(), result());
  if (!n.isStatic())
    return n * Dim(10);
  return n * Dim(std::max<int64_t>(
                 1, llvm::Log2_64_Ceil(std::max<int64_t>(n.value(), 1))));
}

Dim Call::cubic() const {
  Dim n = 0;
  for (const TensorMeta *t : tensors)
    n = n + (t->rank() < 2 ? t->numel()
                           : t->numel() * minDim(t->sizes[t->rank() - 2],
                                                 t->sizes.back()));
  return n;
}

Dim Call::count(Work work) const {
  switch (work) {
  case Work::None:
    return 0;
  case Work::Results:
    return result();
  case Work::Operands:
    return largestOperand();
  case Work::Contraction:
    return contraction();
  case Work::Chain:
    return chain();
  case Work::Bilinear:
    return bilinear();
  case Work::Einsum:
    return einsum();
  case Work::TensorDot:
    return tensorDot();
  case Work::Convolution:
    return convolutionForward();
  case Work::ConvolutionBackward:
    return convolutionBackward();
  case Work::Attention: // q·k, softmax, p·v
    return attention(2, 2, 14);
  case Work::AttentionBackward: // q·k, dq and dk; dp and dv; p and its gradient
    return attention(6, 4, 18);
  case Work::Recurrent:
    return recurrent();
  case Work::Window:
    return window();
  case Work::Logarithmic:
    return logarithmic();
  case Work::Cubic:
    return cubic();
  }
  return 0;
}

/// Operators that read of their first tensor only what they give.
static bool gathers(llvm::StringRef base) {
  return llvm::StringSwitch<bool>(base)
      .Cases({"index", "_unsafe_index", "index_select", "gather", "take",
              "take_along_dim", "embedding"},
             true)
      .Default(false);
}

Dim Call::bytesRead() const {
  Dim total = 0;
  for (auto [i, t] : llvm::enumerate(tensors)) {
    Dim elements = distinctElements(*t);
    if (i == 0 && gathers(schema.base))
      elements = minDim(elements, result());
    total = total + bytesOf(*t, elements);
  }
  return total;
}

Dim Call::bytesWritten() const {
  Dim total = 0;
  for (const TensorMeta &t : results)
    total = total + bytesOf(t, t.numel());
  return total;
}

bool Call::dropsOut() const {
  const Arg *train = find("train");
  if (train && !isTrue(train))
    return false;
  for (llvm::StringRef name : {"dropout_p", "dropout"})
    if (const Arg *p = find(name); p && p->kind == Arg::Float && p->real > 0)
      return true;
  return false;
}

//===----------------------------------------------------------------------===//
// The contract
//===----------------------------------------------------------------------===//

llvm::StringRef recomputeClassName(RecomputeClass recompute) {
  switch (recompute) {
  case RecomputeClass::View:
    return "view";
  case RecomputeClass::Pointwise:
    return "pointwise";
  case RecomputeClass::Reduction:
    return "reduction";
  case RecomputeClass::Expensive:
    return "expensive";
  case RecomputeClass::Never:
    return "never";
  }
  return "";
}

RecomputeClass recomputeClass(const Schema &schema) {
  return CostTable::get().of(schema).recompute;
}

OpCost costOf(const Schema &schema, llvm::ArrayRef<Arg> args,
              llvm::ArrayRef<TensorMeta> operands,
              llvm::ArrayRef<TensorMeta> results) {
  const Row &row = CostTable::get().of(schema);
  Call call(schema, args, operands, results);
  OpCost cost;
  cost.recompute = call.dropsOut() ? RecomputeClass::Never : row.recompute;
  if (row.recompute == RecomputeClass::View)
    return cost;
  cost.flops = scaled(call.count(row.work), row.factor);
  cost.bytesRead = call.bytesRead();
  cost.bytesWritten = call.bytesWritten();
  return cost;
}

std::optional<OpCost> costOf(mlir::Operation *op) {
  const Schema *schema = schemaOf(op);
  if (!schema)
    return std::nullopt;
  AtenCall call = AtenCall::decode(op);
  llvm::SmallVector<TensorMeta, 4> operands, results;
  for (mlir::Value value : call.operands) {
    std::optional<TensorMeta> meta = metaOf(value);
    // Numbers have a place among the operands, too.
    if (!meta && llvm::isa<mlir::TensorType>(value.getType()))
      return std::nullopt;
    operands.push_back(meta.value_or(TensorMeta()));
  }
  for (mlir::Value value : op->getResults()) {
    if (!llvm::isa<mlir::TensorType>(value.getType()))
      continue;
    std::optional<TensorMeta> meta = metaOf(value);
    if (!meta)
      return std::nullopt;
    results.push_back(*meta);
  }
  return costOf(*schema, call.args, operands, results);
}

} // namespace ft
