//===- LearnRule.cpp - Learns shapes by running a kernel -------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The parent forks; the child makes tensors of zeros, calls the kernel, and
// writes what it learnt through a pipe: a Report, then for each result its
// dtype, rank and sizes. The parent reads until the pipe closes or time is up.

#include "compiler/custom/LearnRule.h"

#include "compiler/custom/CustomArgs.h"
#include "dialects/ft/CustomOps.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/raw_ostream.h"

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <deque>
#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

using namespace llvm;

namespace ft {

static constexpr int64_t kMostBytes = 1 << 20;

//===----------------------------------------------------------------------===//
// In the child
//===----------------------------------------------------------------------===//

namespace {
struct Report {
  int32_t code = FT_OK;
  int32_t results = 0;
  char message[504] = "";
};

struct ResultReport {
  DLDataType dtype;
  int32_t rank;
};

/// Tensors of zeros and the call that is made of them.
class ZeroCall {
public:
  ZeroCall(const FakeCall &fake, unsigned results) : fake(fake) {
    learnt.resize(results);
  }
  void run(ft_kernel_fn kernel, int pipe);

private:
  DLTensor *zeros(DLDataType dtype, std::vector<int64_t> sizes,
                  std::vector<int64_t> strides);
  ft_kernel_arg convert(const Arg &arg);
  int32_t fail(int32_t code, const Twine &message);
  DLTensor *result(int32_t index, DLDataType dtype, int32_t rank,
                   const int64_t *sizes);

  const FakeCall &fake;
  std::deque<std::vector<int64_t>> numbers;
  std::deque<DLTensor> tensors;
  std::deque<std::vector<ft_kernel_arg>> lists;
  std::deque<Arg> kept; // owns strings
  std::vector<DLTensor *> operands;
  std::vector<DLTensor *> learnt;
  int64_t bytes = 0;
  Report report;
};
} // namespace

int32_t ZeroCall::fail(int32_t code, const Twine &message) {
  if (report.code == FT_OK) {
    report.code = code == FT_OK ? FT_ERROR_ARGUMENT : code;
    std::string text = message.str();
    strncpy(report.message, text.c_str(), sizeof report.message - 1);
  }
  return report.code;
}

DLTensor *ZeroCall::zeros(DLDataType dtype, std::vector<int64_t> sizes,
                          std::vector<int64_t> strides) {
  int64_t last = 0, count = 1;
  for (size_t d = 0; d < sizes.size(); ++d) {
    int64_t extent = 0;
    if (sizes[d] < 0 || MulOverflow(count, sizes[d], count) ||
        MulOverflow(std::max<int64_t>(sizes[d] - 1, 0), strides[d], extent) ||
        AddOverflow(last, extent, last)) {
      fail(FT_ERROR_MEMORY, "a size does not fit");
      return nullptr;
    }
  }
  int64_t wanted = count == 0 ? 0 : last + 1;
  if (MulOverflow(wanted, int64_t(dtype.bits / 8), wanted) ||
      (bytes += wanted) > kMostBytes) {
    fail(FT_ERROR_MEMORY, "its tensors take more than 1 MiB");
    return nullptr;
  }
  DLTensor tensor;
  tensor.byte_offset = 0;
  tensor.data = calloc(static_cast<size_t>(wanted) + 64, 1);
  tensor.device = {kDLCPU, 0};
  tensor.dtype = dtype;
  tensor.ndim = static_cast<int32_t>(sizes.size());
  numbers.push_back(std::move(sizes));
  tensor.shape = numbers.back().data();
  numbers.push_back(std::move(strides));
  tensor.strides = numbers.back().data();
  tensors.push_back(tensor);
  return &tensors.back();
}

DLTensor *ZeroCall::result(int32_t index, DLDataType dtype, int32_t rank,
                           const int64_t *sizes) {
  constexpr int32_t kMostDims = 64;
  if (index < 0 || index >= static_cast<int32_t>(learnt.size()) || rank < 0 ||
      rank > kMostDims || (rank && !sizes) || !fromDLPack(dtype)) {
    fail(FT_ERROR_ARGUMENT, "its kernel asks for result " + Twine(index) +
                                " of " + dtypeText(dtype) + " with " +
                                Twine(rank) + " dims, which it cannot have");
    return nullptr;
  }
  std::vector<int64_t> shape(sizes, sizes + rank), strides(shape.size());
  int64_t running = 1;
  for (size_t d = shape.size(); d-- > 0;) {
    strides[d] = running;
    if (MulOverflow(running, std::max<int64_t>(shape[d], 1), running)) {
      fail(FT_ERROR_MEMORY, "a size does not fit");
      return nullptr;
    }
  }
  if (!learnt[index])
    learnt[index] = zeros(dtype, std::move(shape), std::move(strides));
  return learnt[index];
}

ft_kernel_arg ZeroCall::convert(const Arg &arg) {
  ft_kernel_arg out = {};
  out.kind = argKind(arg);
  switch (arg.kind) {
  case Arg::None:
  case Arg::Complex:
    break;
  case Arg::Tensor:
    out.tensor = operands[arg.operand];
    break;
  case Arg::Int:
    out.integer = arg.dim.value();
    break;
  case Arg::Float:
    out.real = arg.real;
    break;
  case Arg::Bool:
    out.integer = arg.boolean;
    break;
  case Arg::Str:
    out.text = arg.str.c_str();
    break;
  case Arg::DType:
    out.dtype = toDLPack(arg.dtype);
    break;
  case Arg::Device:
    out.device = toDLPack(arg.device);
    break;
  case Arg::List: {
    std::vector<ft_kernel_arg> items;
    items.reserve(arg.list.size());
    for (const Arg &item : arg.list)
      items.push_back(convert(item));
    out.count = static_cast<int32_t>(items.size());
    lists.push_back(std::move(items));
    out.list = lists.back().data();
    break;
  }
  }
  return out;
}

static void writeAll(int pipe, const void *data, size_t size) {
  const char *at = static_cast<const char *>(data);
  while (size > 0) {
    ssize_t done = write(pipe, at, size);
    if (done <= 0)
      _exit(1);
    at += done;
    size -= static_cast<size_t>(done);
  }
}

void ZeroCall::run(ft_kernel_fn kernel, int pipe) {
  for (const TensorMeta &meta : fake.tensorOperands()) {
    std::vector<int64_t> sizes, strides;
    for (auto [size, stride] : zip(meta.sizes, meta.strides)) {
      sizes.push_back(size.value());
      strides.push_back(stride.value());
    }
    operands.push_back(
        zeros(toDLPack(meta.dtype), std::move(sizes), std::move(strides)));
  }
  std::vector<ft_kernel_arg> args;
  for (auto [arg, formal] : zip(fake.arguments(), fake.schema().args))
    args.push_back(convert(kept.emplace_back(asDeclared(arg, formal.type))));
  std::string name = fake.schema().name.str();
  ft_kernel_call call = {};
  call.struct_size = sizeof call;
  call.op = name.c_str();
  call.num_args = static_cast<int32_t>(args.size());
  call.num_results = static_cast<int32_t>(learnt.size());
  call.args = args.data();
  call.host = this;
  call.result = [](const ft_kernel_call *c, int32_t index, DLDataType dtype,
                   int32_t rank, const int64_t *sizes) {
    return static_cast<ZeroCall *>(c->host)->result(index, dtype, rank, sizes);
  };
  call.fail = [](const ft_kernel_call *c, int32_t code, const char *message) {
    return static_cast<ZeroCall *>(c->host)->fail(
        code, message ? message : "no reason given");
  };
  call.parallel_for = [](const ft_kernel_call *,
                         void (*body)(void *, int64_t, int64_t), void *data,
                         int64_t n, int64_t) {
    if (n > 0)
      body(data, 0, n);
  };
  if (report.code == FT_OK)
    if (int32_t code = kernel(&call))
      fail(code, "its kernel gives up without a reason");
  for (auto [i, tensor] : enumerate(learnt))
    if (!tensor)
      fail(FT_ERROR_ARGUMENT, "its kernel did not ask for result " + Twine(i) +
                                  " with ft_kernel_call::result");
  report.results = static_cast<int32_t>(learnt.size());
  writeAll(pipe, &report, sizeof report);
  if (report.code != FT_OK)
    return;
  for (const DLTensor *tensor : learnt) {
    ResultReport one = {tensor->dtype, tensor->ndim};
    writeAll(pipe, &one, sizeof one);
    writeAll(pipe, tensor->shape, sizeof(int64_t) * tensor->ndim);
  }
}

/// Nothing of the parent may be touched from here on but its memory.
[[noreturn]] static void runChild(const FakeCall &call, unsigned results,
                                  ft_kernel_fn kernel, int mostSeconds,
                                  int pipe) {
  for (int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGTRAP, SIGSYS,
                     SIGTERM, SIGINT, SIGALRM})
    std::signal(signal, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  rlimit noCore = {0, 0};
  setrlimit(RLIMIT_CORE, &noCore);
  dup2(STDERR_FILENO, STDOUT_FILENO); // standard output is the product's
  // Should the parent die, this process must not stay.
  alarm(static_cast<unsigned>(mostSeconds) + 5);
  ZeroCall(call, results).run(kernel, pipe);
  _exit(0);
}

//===----------------------------------------------------------------------===//
// In the parent
//===----------------------------------------------------------------------===//

/// Reads until the pipe closes; false when time is up.
static bool readAll(int pipe, int mostSeconds, std::string &bytes) {
  using Clock = std::chrono::steady_clock;
  auto end = Clock::now() + std::chrono::seconds(mostSeconds);
  char buffer[4096];
  for (;;) {
    auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        end - Clock::now());
    if (left.count() <= 0)
      return false;
    pollfd wait = {pipe, POLLIN, 0};
    int ready = poll(&wait, 1, static_cast<int>(left.count()));
    if (ready < 0 && errno == EINTR)
      continue;
    if (ready <= 0)
      return false;
    ssize_t got = read(pipe, buffer, sizeof buffer);
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0)
      return true;
    bytes.append(buffer, static_cast<size_t>(got));
  }
}

static bool take(StringRef &bytes, void *into, size_t size) {
  if (bytes.size() < size)
    return false;
  memcpy(into, bytes.data(), size);
  bytes = bytes.drop_front(size);
  return true;
}

/// What the child wrote; false if it is cut off.
static bool decode(StringRef bytes, std::vector<TensorMeta> &results) {
  for (TensorMeta &meta : results) {
    ResultReport one;
    if (!take(bytes, &one, sizeof one) || one.rank < 0 || one.rank > 64)
      return false;
    std::optional<DType> dtype = fromDLPack(one.dtype);
    std::vector<int64_t> sizes(static_cast<size_t>(one.rank));
    if (!dtype || !take(bytes, sizes.data(), sizeof(int64_t) * sizes.size()))
      return false;
    meta = TensorMeta::contiguous(*dtype, Dims(sizes.begin(), sizes.end()));
  }
  return true;
}

static LogicalResult learn(FakeCall &call, ft_kernel_fn kernel, int mostSeconds,
                           std::vector<TensorMeta> &results) {
  auto refuse = [&](const Twine &why) {
    return call.fail(FakeError::Unsupported,
                     "its results cannot be learned: " + why);
  };
  int ends[2];
  if (pipe(ends))
    return refuse(Twine("no pipe: ") + strerror(errno));
  outs().flush();
  pid_t child = fork();
  if (child < 0) {
    close(ends[0]);
    close(ends[1]);
    return refuse(Twine("no process: ") + strerror(errno));
  }
  if (child == 0) {
    close(ends[0]);
    runChild(call, static_cast<unsigned>(results.size()), kernel, mostSeconds,
             ends[1]);
  }
  close(ends[1]);
  std::string bytes;
  bool finished = readAll(ends[0], mostSeconds, bytes);
  close(ends[0]);
  if (!finished)
    kill(child, SIGKILL);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!finished)
    return refuse("its kernel did not finish within " + Twine(mostSeconds) +
                  " seconds");
  if (WIFSIGNALED(status))
    return refuse(Twine("its kernel crashed (") + strsignal(WTERMSIG(status)) +
                  ")");
  StringRef rest = bytes;
  Report report;
  if (!take(rest, &report, sizeof report))
    return refuse("its kernel ended the process");
  if (report.code != FT_OK)
    return refuse(StringRef(report.message));
  if (!decode(rest, results))
    return refuse("its kernel damaged what it learnt");
  return success();
}

/// All that the results may depend on.
static std::string signature(const FakeCall &call) {
  std::string text;
  raw_string_ostream os(text);
  auto write = [&](auto &&self, const Arg &arg) -> void {
    os << int(arg.kind) << ':';
    switch (arg.kind) {
    case Arg::None:
    case Arg::Complex:
      break;
    case Arg::Tensor:
      os << call.tensorOperands()[arg.operand].str();
      break;
    case Arg::Int:
      os << arg.dim.value();
      break;
    case Arg::Float:
      os << bit_cast<uint64_t>(arg.real);
      break;
    case Arg::Bool:
      os << arg.boolean;
      break;
    case Arg::Str:
      os << arg.str.size() << ' ' << arg.str;
      break;
    case Arg::DType:
      os << dtypeName(arg.dtype);
      break;
    case Arg::Device:
      os << arg.device.str();
      break;
    case Arg::List:
      os << arg.list.size() << '[';
      for (const Arg &item : arg.list)
        self(self, item);
      break;
    }
    os << ';';
  };
  for (const Arg &arg : call.arguments())
    write(write, arg);
  return text;
}

static bool isStatic(const Arg &arg) {
  return (arg.kind != Arg::Int || arg.dim.isStatic()) &&
         all_of(arg.list, [](const Arg &item) { return isStatic(item); });
}

CustomRule learnRule(const CustomOp &op, int mostSeconds) {
  using Memory = StringMap<std::vector<TensorMeta>>;
  auto memory = std::make_shared<Memory>();
  return [&op, memory, mostSeconds](FakeCall &call) -> LogicalResult {
    auto refuse = [&](const Twine &why) {
      return call.fail(FakeError::Unsupported,
                       "its results cannot be learned: " + why);
    };
    if (!op.kernel.address)
      return refuse("the plug-in does not export its kernel '" +
                    op.kernel.symbol + "'");
    for (const TensorMeta &meta : call.tensorOperands()) {
      if (!meta.isStatic())
        return refuse("the size of a tensor is not known: " + meta.str());
      if (meta.device.kind != Device::Cpu)
        return refuse("a tensor is on " + meta.device.str());
    }
    if (!all_of(call.arguments(), isStatic))
      return refuse("an integer is not known");
    std::string key = signature(call);
    auto known = memory->find(key);
    if (known == memory->end()) {
      std::vector<TensorMeta> results(givenResults(call.schema()));
      if (failed(learn(call, reinterpret_cast<ft_kernel_fn>(op.kernel.address),
                       mostSeconds, results)))
        return failure();
      known = memory->try_emplace(key, std::move(results)).first;
    }
    return finishResults(call, known->second);
  };
}

} // namespace ft
