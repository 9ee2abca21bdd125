//===- FakeView.cpp - Fake rules of custom operators -----------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "compiler/custom/FakeView.h"

#include "compiler/custom/CustomArgs.h"
#include "compiler/custom/PluginCall.h"
#include "compiler/fake/StrideRules.h"
#include "compiler/fake/rules/Elementwise.h"
#include "dialects/ft/CustomOps.h"

#include "llvm/Support/MathExtras.h"

#include <atomic>

using namespace llvm;

/// What the opaque handle of foretrace/plugin.h is.
struct ft_fake_call {
  ft::FakeCall &call;
  /// Arguments as declared; handles of arguments point into it.
  std::vector<ft::Arg> args;
  /// What ft_dim handles number, counted from `firstDim`, which no other call
  /// has: handles of another call, and zeros, are told apart.
  std::vector<ft::Dim> dims;
  int64_t firstDim;
  std::vector<ft::TensorMeta> results;
  mutable bool failed = false;
};

namespace ft {

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

unsigned givenResults(const Schema &schema) {
  unsigned count = 0;
  for (const SchemaType &type : schema.returns)
    count += !type.write;
  return count;
}

/// How far the last element is behind the first, -1 without elements; nullopt
/// where it is symbolic or does not fit 64 bits.
static std::optional<int64_t> extent(const TensorMeta &meta) {
  int64_t last = 0;
  bool empty = false, fits = meta.isStatic();
  for (auto [size, stride] : zip(meta.sizes, meta.strides)) {
    int64_t step = 0;
    if (!fits || size.is(0)) {
      empty |= fits;
      continue;
    }
    fits = !MulOverflow(size.value() - 1, stride.value(), step) &&
           !AddOverflow(last, step, last);
  }
  if (!fits)
    return std::nullopt;
  return empty ? -1 : last;
}

/// Code is made for views inside of their base only.
static LogicalResult checkView(FakeCall &call, const TensorMeta &view,
                               const TensorMeta &base) {
  auto refuse = [&](const Twine &what, const Twine &is, const Twine &of) {
    return call.fail(FakeError::Unsupported, "its fake rule gives a view of " +
                                                 what + " " + is +
                                                 ", its base has " + of);
  };
  if (view.dtype != base.dtype)
    return refuse("dtype", dtypeName(view.dtype), dtypeName(base.dtype));
  if (view.device != base.device)
    return refuse("device", view.device.str(), base.device.str());
  std::optional<int64_t> last = extent(view), most = extent(base);
  if (last && most && *last > *most)
    return refuse("extent", Twine(*last + 1), Twine(*most + 1));
  return success();
}

LogicalResult finishResults(FakeCall &call, ArrayRef<TensorMeta> given) {
  const Schema &schema = call.schema();
  if (given.size() != givenResults(schema))
    return call.fail(FakeError::Other, "its fake rule gives " +
                                           Twine(given.size()) +
                                           " results, the schema asks for " +
                                           Twine(givenResults(schema)));
  size_t next = 0;
  for (unsigned r = 0; r < schema.returns.size(); ++r) {
    int arg = schema.aliasedArg(r);
    bool written = schema.returns[r].write;
    if (arg >= 0 && call.arg(arg).kind != Arg::Tensor)
      return call.fail(FakeError::Other, "argument '" + schema.args[arg].name +
                                             "', which it returns, is absent");
    FakeResult &result = call.results.emplace_back();
    result.meta = written ? call.tensor(arg) : given[next++];
    result.alias = arg >= 0 ? call.arg(arg).operand : -1;
    if (arg >= 0 && !written &&
        failed(checkView(call, result.meta, call.tensor(arg))))
      return failure();
  }
  return success();
}

/// `meta`, for each result that a rule has to give.
static LogicalResult finishAll(FakeCall &call, const TensorMeta &meta) {
  return finishResults(
      call, std::vector<TensorMeta>(givenResults(call.schema()), meta));
}

static TensorMeta emptyLike(const TensorMeta &tensor) {
  TensorMeta meta = tensor;
  meta.strides = likeStrides(tensor);
  meta.offset = 0;
  meta.conj = meta.neg = false;
  return meta;
}

CustomRule likeRule(unsigned index) {
  return [index](FakeCall &call) -> LogicalResult {
    const TensorMeta *like = call.optTensor(index);
    if (!like)
      return call.fail(FakeError::Other, "argument '" +
                                             call.schema().args[index].name +
                                             "', which the results are like, "
                                             "is absent");
    return finishAll(call, emptyLike(*like));
  };
}

CustomRule broadcastRule() {
  return [](FakeCall &call) -> LogicalResult {
    FailureOr<DType> dtype = promotedDType(call, /*typed=*/0);
    if (failed(dtype) ||
        failed(elementwise(call, elementwiseTensors(call), *dtype)))
      return failure();
    TensorMeta meta = call.results.front().meta;
    call.results.clear();
    return finishAll(call, meta);
  };
}

CustomRule writtenRule() {
  return [](FakeCall &call) { return finishResults(call, {}); };
}

CustomRule functionalRule(const CustomOp &original) {
  return [&original](FakeCall &call) -> LogicalResult {
    FakeCall base(original.schema, call.arguments(), call.tensorOperands(),
                  call.scope);
    base.operandKeys = call.operandKeys;
    base.device = call.device;
    LogicalResult done = original.fake(base);
    call.undecided = base.undecided;
    call.bypass = base.bypass;
    if (failed(done))
      return call.fail(base.category, base.message);
    for (auto [i, arg] : enumerate(original.schema.args)) {
      if (!arg.type.write)
        continue;
      // An absent one has no new value to give.
      const TensorMeta *written = call.optTensor(i);
      if (!written) {
        (void)call.undefined();
        continue;
      }
      TensorMeta meta = *written;
      meta.strides = cloneStrides(*written);
      meta.offset = 0;
      (void)call.fresh(std::move(meta));
    }
    for (auto [r, result] : enumerate(base.results))
      if (!original.schema.returns[r].write)
        call.results.push_back(result);
    return success();
  };
}

//===----------------------------------------------------------------------===//
// The table of functions
//===----------------------------------------------------------------------===//

static const Arg *argOf(const ft_fake_arg *arg) {
  return reinterpret_cast<const Arg *>(arg);
}
static const ft_fake_arg *handleOf(const Arg *arg) {
  return reinterpret_cast<const ft_fake_arg *>(arg);
}

static const TensorMeta *tensorOf(const ft_fake_call *c,
                                  const ft_fake_arg *handle) {
  const Arg *arg = argOf(handle);
  return c && arg && arg->kind == Arg::Tensor
             ? &c->call.tensorOperands()[arg->operand]
             : nullptr;
}

// Mistakes of the plug-in are not ours to trip on: a call that is NULL, which
// has no place for a reason, and dims that it was not given.

static int32_t refuse(const ft_fake_call *c, FakeError category,
                      const Twine &why) {
  if (!c)
    return 1;
  if (!c->failed)
    (void)c->call.fail(category, why);
  c->failed = true;
  return 1;
}

/// The first handle of a call, 2^32 behind that of the call before.
static int64_t nextFirstDim() {
  static std::atomic<uint32_t> calls = 0;
  return static_cast<int64_t>((++calls & 0x3fffffffu) | 1u << 30) << 32;
}

static ft_dim give(ft_fake_call *c, Dim dim) {
  if (!c)
    return {-1};
  c->dims.push_back(dim);
  return {c->firstDim + static_cast<int64_t>(c->dims.size()) - 1};
}

static Dim take(const ft_fake_call *c, ft_dim dim) {
  if (!c)
    return 0;
  if (dim.handle >= c->firstDim &&
      dim.handle - c->firstDim < static_cast<int64_t>(c->dims.size()))
    return c->dims[dim.handle - c->firstDim];
  refuse(c, FakeError::Unsupported,
         "its fake rule uses a dim that this call did not give it");
  return 0;
}

/// "x", "xs[2]": an argument as messages name it.
static std::string nameOf(const ft_fake_call *c, const ft_fake_arg *handle) {
  if (!c)
    return "?";
  const Arg *arg = argOf(handle);
  for (auto [i, formal] : enumerate(c->call.schema().args)) {
    if (arg == &c->args[i])
      return formal.name.str();
    const std::vector<Arg> &list = c->args[i].list;
    for (auto [k, item] : enumerate(list))
      if (arg == &item)
        return (formal.name + "[" + Twine(k) + "]").str();
  }
  return "?";
}

static int32_t apiNumArgs(const ft_fake_call *c) {
  return c ? static_cast<int32_t>(c->args.size()) : 0;
}
static const ft_fake_arg *apiArg(const ft_fake_call *c, int32_t index) {
  return index >= 0 && index < apiNumArgs(c) ? handleOf(&c->args[index])
                                             : nullptr;
}
static const ft_fake_arg *apiArgNamed(const ft_fake_call *c, const char *name) {
  return c && name ? apiArg(c, c->call.schema().argIndex(name)) : nullptr;
}
static int32_t apiKind(const ft_fake_arg *arg) {
  return arg ? argKind(*argOf(arg)) : FT_ARG_NONE;
}
static int32_t apiListSize(const ft_fake_arg *arg) {
  return arg ? static_cast<int32_t>(argOf(arg)->list.size()) : 0;
}
static const ft_fake_arg *apiListItem(const ft_fake_arg *arg, int32_t index) {
  return index >= 0 && index < apiListSize(arg)
             ? handleOf(&argOf(arg)->list[index])
             : nullptr;
}

static ft_dim apiInteger(ft_fake_call *c, const ft_fake_arg *handle) {
  const Arg *arg = argOf(handle);
  if (!arg)
    return give(c, 0);
  if (arg->kind == Arg::Bool)
    return give(c, arg->boolean ? 1 : 0);
  return give(c, arg->kind == Arg::Int ? arg->dim : Dim(0));
}
static double apiReal(const ft_fake_arg *handle) {
  const Arg *arg = argOf(handle);
  if (!arg)
    return 0;
  if (arg->kind == Arg::Int && arg->dim.isStatic())
    return static_cast<double>(arg->dim.value());
  return arg->kind == Arg::Float ? arg->real : 0;
}
static int32_t apiBoolean(const ft_fake_arg *handle) {
  const Arg *arg = argOf(handle);
  return arg && arg->kind == Arg::Bool && arg->boolean;
}
static const char *apiText(const ft_fake_arg *handle) {
  const Arg *arg = argOf(handle);
  return arg && arg->kind == Arg::Str ? arg->str.c_str() : "";
}
static DLDataType apiDtypeValue(const ft_fake_arg *handle) {
  const Arg *arg = argOf(handle);
  return arg && arg->kind == Arg::DType ? toDLPack(arg->dtype)
                                        : DLDataType{0, 0, 0};
}
static DLDevice apiDeviceValue(const ft_fake_arg *handle) {
  const Arg *arg = argOf(handle);
  return arg && arg->kind == Arg::Device ? toDLPack(arg->device)
                                         : DLDevice{kDLCPU, 0};
}

static int32_t apiRank(const ft_fake_call *c, const ft_fake_arg *arg) {
  const TensorMeta *t = tensorOf(c, arg);
  return t ? static_cast<int32_t>(t->rank()) : 0;
}
static ft_dim entry(ft_fake_call *c, const ft_fake_arg *arg, int32_t d,
                    Dims TensorMeta::*dims) {
  const TensorMeta *t = tensorOf(c, arg);
  if (t && d >= 0 && d < t->rank())
    return give(c, (t->*dims)[d]);
  refuse(c, FakeError::Index,
         "its fake rule asks for dim " + Twine(d) + " of '" + nameOf(c, arg) +
             "', which has " + Twine(apiRank(c, arg)) + " dims");
  return give(c, 0);
}
static ft_dim apiSize(ft_fake_call *c, const ft_fake_arg *arg, int32_t d) {
  return entry(c, arg, d, &TensorMeta::sizes);
}
static ft_dim apiStride(ft_fake_call *c, const ft_fake_arg *arg, int32_t d) {
  return entry(c, arg, d, &TensorMeta::strides);
}
static ft_dim apiOffset(ft_fake_call *c, const ft_fake_arg *arg) {
  const TensorMeta *t = tensorOf(c, arg);
  return give(c, t ? t->offset : Dim(0));
}
static DLDataType apiDtype(const ft_fake_call *c, const ft_fake_arg *arg) {
  const TensorMeta *t = tensorOf(c, arg);
  return t ? toDLPack(t->dtype) : DLDataType{0, 0, 0};
}
static DLDevice apiDevice(const ft_fake_call *c, const ft_fake_arg *arg) {
  const TensorMeta *t = tensorOf(c, arg);
  return t ? toDLPack(t->device) : DLDevice{kDLCPU, 0};
}

static ft_dim apiDim(ft_fake_call *c, int64_t value) { return give(c, value); }
static int32_t apiNumber(const ft_fake_call *c, ft_dim dim, int64_t *value) {
  Dim d = take(c, dim);
  if (!value) {
    refuse(c, FakeError::Unsupported,
           "its fake rule asks for a number without a place for it (NULL)");
    return 0;
  }
  *value = d.isStatic() ? d.value() : 0;
  return c && d.isStatic();
}

/// `compute` of two dims, which must fit 64 bits.
static ft_dim arithmetic(ft_fake_call *c, ft_dim a, ft_dim b, char sign,
                         Dim (*compute)(Dim, Dim),
                         int64_t (*checked)(int64_t, int64_t, int64_t &)) {
  Dim left = take(c, a), right = take(c, b);
  int64_t result = 0;
  if (left.isStatic() && right.isStatic() &&
      checked(left.value(), right.value(), result)) {
    refuse(c, FakeError::Unsupported,
           "its fake rule computes " + left.str() + " " + Twine(sign) + " " +
               right.str() + ", which does not fit 64 bits");
    return give(c, 0);
  }
  return give(c, compute(left, right));
}
static ft_dim apiAdd(ft_fake_call *c, ft_dim a, ft_dim b) {
  return arithmetic(c, a, b, '+', operator+, AddOverflow<int64_t>);
}
static ft_dim apiSubtract(ft_fake_call *c, ft_dim a, ft_dim b) {
  return arithmetic(c, a, b, '-', operator-, SubOverflow<int64_t>);
}
static ft_dim apiMultiply(ft_fake_call *c, ft_dim a, ft_dim b) {
  return arithmetic(c, a, b, '*', operator*, MulOverflow<int64_t>);
}
static ft_dim apiDivide(ft_fake_call *c, ft_dim a, ft_dim b) {
  if (take(c, b).is(0)) {
    refuse(c, FakeError::Other, "its fake rule divides by 0");
    return give(c, 0);
  }
  // Only INT64_MIN / -1 does not fit, as INT64_MIN * -1.
  return arithmetic(c, a, b, '/', floorDiv,
                    [](int64_t x, int64_t y, int64_t &result) -> int64_t {
                      return y == -1 && MulOverflow(x, y, result);
                    });
}
static int32_t apiEqual(ft_fake_call *c, ft_dim a, ft_dim b) {
  Dim left = take(c, a), right = take(c, b);
  return c && c->call.eq(left, right);
}
static int32_t apiLess(ft_fake_call *c, ft_dim a, ft_dim b) {
  Dim left = take(c, a), right = take(c, b);
  return c && c->call.lt(left, right);
}

static int32_t apiExpectRank(ft_fake_call *c, const ft_fake_arg *arg,
                             int32_t rank) {
  if (tensorOf(c, arg) && apiRank(c, arg) == rank)
    return 0;
  return refuse(c, FakeError::Shape,
                "'" + nameOf(c, arg) + "' must have " + Twine(rank) +
                    " dims, it has " + Twine(apiRank(c, arg)));
}
static int32_t apiExpectSize(ft_fake_call *c, const ft_fake_arg *arg, int32_t d,
                             ft_dim size) {
  const TensorMeta *t = tensorOf(c, arg);
  if (!t || d < 0 || d >= t->rank())
    return refuse(c, FakeError::Shape,
                  "'" + nameOf(c, arg) + "' has no dim " + Twine(d) +
                      ": it has " + Twine(apiRank(c, arg)) + " dims");
  if (c->call.eq(t->sizes[d], take(c, size)))
    return 0;
  return refuse(c, FakeError::Shape,
                "'" + nameOf(c, arg) + "' has size " + t->sizes[d].str() +
                    " at dim " + Twine(d) + ", expected " +
                    take(c, size).str());
}
static int32_t apiExpectDtype(ft_fake_call *c, const ft_fake_arg *arg,
                              DLDataType dtype) {
  const TensorMeta *t = tensorOf(c, arg);
  std::optional<DType> want = fromDLPack(dtype);
  if (t && want && t->dtype == *want)
    return 0;
  return refuse(c, FakeError::Dtype,
                "'" + nameOf(c, arg) + "' must be " + dtypeText(dtype) +
                    ", it is " + (t ? dtypeName(t->dtype) : "no tensor"));
}

/// Refuses sizes and strides that no tensor can have; 0: they are fine.
static int32_t refuseLayout(const ft_fake_call *c, const TensorMeta &meta) {
  auto negative = [](Dim d) { return d.isStatic() && d.value() < 0; };
  auto list = [](const Dims &dims) {
    std::string text;
    for (const Dim &d : dims)
      text += (text.empty() ? "" : ", ") + d.str();
    return "[" + text + "]";
  };
  if (any_of(meta.sizes, negative))
    return refuse(c, FakeError::Unsupported,
                  "its fake rule gives a result of negative size: " +
                      list(meta.sizes));
  int64_t bytes = dtypeBytes(meta.dtype);
  bool fits = true;
  for (const Dim &size : meta.sizes)
    if (size.isStatic() && size.value() > 0)
      fits = fits && !MulOverflow(bytes, size.value(), bytes);
  if (!fits || (meta.isStatic() && !extent(meta)))
    return refuse(c, FakeError::Unsupported,
                  "its fake rule gives a result that is too large: " +
                      list(meta.sizes));
  if (any_of(meta.strides, negative))
    return refuse(c, FakeError::Unsupported,
                  "its fake rule gives a result of negative strides: " +
                      list(meta.strides));
  return 0;
}

static int32_t apiResultOn(ft_fake_call *c, DLDevice device, DLDataType dtype,
                           int32_t rank, const ft_dim *sizes,
                           const ft_dim *strides) {
  constexpr int32_t kMostDims = 64; // as PyTorch's tensors
  if (!c)
    return 1;
  TensorMeta meta;
  std::optional<DType> known = fromDLPack(dtype);
  std::optional<Device> on = fromDLPack(device);
  if (!known || !on || rank < 0 || rank > kMostDims || (rank && !sizes))
    return refuse(c, FakeError::Other,
                  "its fake rule gives a result of " + dtypeText(dtype) +
                      " with " + Twine(rank) + " dims on device type " +
                      Twine(static_cast<int>(device.device_type)) +
                      ", which no tensor can be");
  meta.dtype = *known;
  meta.device = *on;
  for (int32_t d = 0; d < rank; ++d)
    meta.sizes.push_back(take(c, sizes[d]));
  meta.strides = contiguousStrides(meta.sizes);
  for (int32_t d = 0; strides && d < rank; ++d)
    meta.strides[d] = take(c, strides[d]);
  if (c->failed)
    return 1;
  if (refuseLayout(c, meta))
    return 1;
  // A view starts where its base does.
  const Schema &schema = c->call.schema();
  size_t next = c->results.size();
  for (unsigned r = 0; r < schema.returns.size(); ++r) {
    if (schema.returns[r].write || next-- != 0)
      continue;
    int arg = schema.aliasedArg(r);
    if (arg >= 0 && c->call.optTensor(arg))
      meta.offset = c->call.tensor(arg).offset;
  }
  c->results.push_back(std::move(meta));
  return 0;
}
static int32_t apiResult(ft_fake_call *c, DLDataType dtype, int32_t rank,
                         const ft_dim *sizes, const ft_dim *strides) {
  if (!c)
    return 1;
  return apiResultOn(c, toDLPack(c->call.device), dtype, rank, sizes, strides);
}
static int32_t apiResultLike(ft_fake_call *c, const ft_fake_arg *arg) {
  const TensorMeta *t = tensorOf(c, arg);
  if (!t)
    return refuse(c, FakeError::Other,
                  "its fake rule gives a result like '" + nameOf(c, arg) +
                      "', which is no tensor");
  c->results.push_back(emptyLike(*t));
  return 0;
}

static int32_t apiFail(ft_fake_call *c, int32_t category, const char *message) {
  FakeError why = FakeError::Other;
  switch (category) {
  case FT_FAKE_SHAPE:
    why = FakeError::Shape;
    break;
  case FT_FAKE_DTYPE:
    why = FakeError::Dtype;
    break;
  case FT_FAKE_DEVICE:
    why = FakeError::Device;
    break;
  case FT_FAKE_INDEX:
    why = FakeError::Index;
    break;
  case FT_FAKE_UNSUPPORTED:
    why = FakeError::Unsupported;
    break;
  default:
    break;
  }
  return refuse(c, why,
                message && *message ? message : "its fake rule refuses it");
}

static const ft_fake_api kFakeApi = {sizeof(ft_fake_api),
                                     apiNumArgs,
                                     apiArg,
                                     apiArgNamed,
                                     apiKind,
                                     apiListSize,
                                     apiListItem,
                                     apiInteger,
                                     apiReal,
                                     apiBoolean,
                                     apiText,
                                     apiDtypeValue,
                                     apiDeviceValue,
                                     apiRank,
                                     apiSize,
                                     apiStride,
                                     apiOffset,
                                     apiDtype,
                                     apiDevice,
                                     apiDim,
                                     apiNumber,
                                     apiAdd,
                                     apiSubtract,
                                     apiMultiply,
                                     apiDivide,
                                     apiEqual,
                                     apiLess,
                                     apiExpectRank,
                                     apiExpectSize,
                                     apiExpectDtype,
                                     apiResult,
                                     apiResultOn,
                                     apiResultLike,
                                     apiFail};

CustomRule callbackRule(ft_fake_fn rule, void *user) {
  return [rule, user](FakeCall &call) -> LogicalResult {
    ft_fake_call view{call, {}, {}, nextFirstDim(), {}};
    for (auto [arg, formal] : zip(call.arguments(), call.schema().args))
      view.args.push_back(asDeclared(arg, formal.type));
    int32_t code;
    {
      PluginCall running(customOp(call.schema())->source,
                         "the fake rule of " + shownName(call.schema()));
      code = rule(&kFakeApi, &view, user);
    }
    if (view.failed)
      return failure();
    if (code)
      return call.fail(FakeError::Other,
                       "its fake rule failed without a reason (code " +
                           Twine(code) + ")");
    return finishResults(call, view.results);
  };
}

} // namespace ft
