//===- Types.h - What arguments of traced calls are ------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FORETRACE_TRACE_TYPES_H
#define FORETRACE_TRACE_TYPES_H

#include "compiler/support/Export.h"

#include <complex>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <vector>

namespace ft {

class Tensor;
class FakeMode;

namespace detail {
struct Origin;
struct SymNode;
struct TraceState;
} // namespace detail

// The vocabulary has an op that is called `std`: generated declarations do not
// name the namespace.
template <typename T>
using Optional = std::optional<T>;
template <typename... T>
using Tuple = std::tuple<T...>;
using Text = std::string_view;

/// Element types; enumerators and constants (ft::kFloat32) from DTypes.def.
enum class ScalarType : uint8_t {
#define FT_SCALAR_TYPE(name, constant) name,
#include "foretrace/trace/ScalarTypes.inc"
#undef FT_SCALAR_TYPE
};
#define FT_SCALAR_TYPE(name, constant)                                         \
  inline constexpr ScalarType constant = ScalarType::name;
#include "foretrace/trace/ScalarTypes.inc"
#undef FT_SCALAR_TYPE

/// "float32", "bool", …
FORETRACE_API std::string scalarTypeName(ScalarType type);

/// Where a tensor lives.
struct DeviceId {
  enum Kind : uint8_t { Cpu, Cuda, Meta };
  Kind kind = Cpu;
  int32_t index = 0;

  bool operator==(const DeviceId &other) const {
    return kind == other.kind && index == other.index;
  }
  bool operator!=(const DeviceId &other) const { return !(*this == other); }
  /// "cpu", "cuda:1", "meta"
  FORETRACE_API std::string str() const;
};
inline constexpr DeviceId kCpu{DeviceId::Cpu, 0};
inline constexpr DeviceId kMeta{DeviceId::Meta, 0};
constexpr DeviceId cuda(int32_t index = 0) { return {DeviceId::Cuda, index}; }

enum class MemoryFormat : uint8_t {
  Contiguous,
  Preserve,
  ChannelsLast,
  ChannelsLast3d
};
enum class Layout : uint8_t { Strided };

/// The place in the caller's source that a call stands at: the last parameter
/// of every call, filled in by the compiler.
struct Here {
  const char *file = "";
  int line = 0;
  static constexpr Here current(const char *file = __builtin_FILE(),
                                int line = __builtin_LINE()) {
    return {file, line};
  }
};

namespace detail {
template <typename T>
using IfInteger = std::enable_if_t<std::is_integral_v<T> &&
                                   !std::is_same_v<std::decay_t<T>, bool>>;
} // namespace detail

/// A size, or a number that was computed from one: an integer, or, in a mode
/// with symbols, an expression that is known when the model runs.
///
/// Arithmetic on plain integers is plain arithmetic (`/` and `%` round as
/// Python's `//` and `%` do). On symbols it adds operations to the module. To
/// compare is to branch: what is not decided by what is known of the symbols is
/// what it is in the example, and a guard of the model, for sizes of inputs
/// (TensorDesc::dynamic). Of numbers that data decide it is an error of the
/// mode (FT0311) instead of a guess.
class FORETRACE_API SymInt {
public:
  SymInt() = default;
  template <typename T, typename = detail::IfInteger<T>>
  SymInt(T value) : number(static_cast<int64_t>(value)) {}

  bool isStatic() const { return !node; }
  /// The integer. Of a symbol: an error of the mode, and 0.
  int64_t value() const { return node ? symbolicValue() : number; }
  explicit operator int64_t() const { return value(); }
  /// "8", "u0 + 1"
  std::string str() const;
  /// Not the result of a call that failed.
  bool ok() const;

  friend SymInt operator+(const SymInt &a, const SymInt &b) {
    return a.node || b.node
               ? apply("operator.add", a, b)
               : SymInt(wrap(uint64_t(a.number) + uint64_t(b.number)));
  }
  friend SymInt operator-(const SymInt &a, const SymInt &b) {
    return a.node || b.node
               ? apply("operator.sub", a, b)
               : SymInt(wrap(uint64_t(a.number) - uint64_t(b.number)));
  }
  friend SymInt operator*(const SymInt &a, const SymInt &b) {
    return a.node || b.node
               ? apply("operator.mul", a, b)
               : SymInt(wrap(uint64_t(a.number) * uint64_t(b.number)));
  }
  friend SymInt operator/(const SymInt &a, const SymInt &b) {
    return apply("operator.floordiv", a, b);
  }
  friend SymInt operator%(const SymInt &a, const SymInt &b) {
    return apply("operator.mod", a, b);
  }
  SymInt operator-() const { return SymInt(0) - *this; }
  SymInt &operator+=(const SymInt &b) { return *this = *this + b; }
  SymInt &operator-=(const SymInt &b) { return *this = *this - b; }
  SymInt &operator*=(const SymInt &b) { return *this = *this * b; }

  friend bool operator==(const SymInt &a, const SymInt &b) {
    return a.node || b.node ? decide("==", a, b) : a.number == b.number;
  }
  friend bool operator<(const SymInt &a, const SymInt &b) {
    return a.node || b.node ? decide("<", a, b) : a.number < b.number;
  }
  friend bool operator!=(const SymInt &a, const SymInt &b) { return !(a == b); }
  friend bool operator>(const SymInt &a, const SymInt &b) { return b < a; }
  friend bool operator<=(const SymInt &a, const SymInt &b) {
    return a.node || b.node ? decide("<=", a, b) : a.number <= b.number;
  }
  friend bool operator>=(const SymInt &a, const SymInt &b) { return b <= a; }

private:
  friend struct detail::SymNode;
  friend struct detail::TraceState;
  /// Overflow wraps; sizes are checked where they are used.
  static int64_t wrap(uint64_t value) { return static_cast<int64_t>(value); }
  static SymInt apply(const char *op, const SymInt &a, const SymInt &b);
  static bool decide(const char *relation, const SymInt &a, const SymInt &b);
  int64_t symbolicValue() const;

  int64_t number = 0;
  std::shared_ptr<detail::SymNode> node;
};

/// A number argument or result: integer, float, bool or complex.
class FORETRACE_API Scalar {
public:
  enum Kind : uint8_t { Int, Float, Bool, Complex };

  Scalar() = default;
  template <typename T, typename = std::enable_if_t<std::is_arithmetic_v<T>>>
  Scalar(T value) {
    if constexpr (std::is_same_v<T, bool>) {
      tag = Bool;
      integer = SymInt(value ? 1 : 0);
    } else if constexpr (std::is_integral_v<T>) {
      integer = SymInt(value);
    } else {
      tag = Float;
      re = static_cast<double>(value);
    }
  }
  Scalar(const SymInt &value) : integer(value) {}
  Scalar(std::complex<double> value)
      : tag(Complex), re(value.real()), im(value.imag()) {}

  Kind kind() const { return tag; }
  /// Whether the number is known now. One that is not can be used as an
  /// argument; to read it is an error of its mode.
  bool isStatic() const { return integer.isStatic(); }
  /// The number as an integer (a symbol stays one), a double, a bool.
  SymInt toInt() const;
  double toDouble() const;
  bool toBool() const;
  double real() const { return re; }
  double imag() const { return im; }
  bool ok() const { return integer.ok(); }

private:
  friend struct detail::TraceState;
  Kind tag = Int;
  /// Int and Bool; of other kinds only its symbol, if there is one.
  SymInt integer;
  double re = 0, im = 0;
};

/// A bool argument. Takes nothing but a bool, so that `var(x, 1)` reduces dim
/// 1 instead of reading 1 as a flag.
class Flag {
public:
  template <typename T,
            typename = std::enable_if_t<std::is_same_v<std::decay_t<T>, bool>>>
  constexpr Flag(T value) : value(value) {}
  constexpr operator bool() const { return value; }

private:
  bool value;
};

// Lists are parameters only: what they view lives as long as the call.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winit-list-lifetime"
#endif

/// A list argument of sizes or indices; views what it is made from.
class IntList {
public:
  IntList() = default;
  IntList(std::initializer_list<int64_t> list)
      : plain(list.begin()), count(list.size()) {}
  IntList(std::initializer_list<SymInt> list)
      : sym(list.begin()), count(list.size()) {}
  IntList(const std::vector<int64_t> &list)
      : plain(list.data()), count(list.size()) {}
  IntList(const std::vector<SymInt> &list)
      : sym(list.data()), count(list.size()) {}
  IntList(const int64_t *list, size_t size) : plain(list), count(size) {}

  size_t size() const { return count; }
  SymInt operator[](size_t i) const {
    return sym ? sym[i] : plain ? SymInt(plain[i]) : one;
  }
  bool isNone() const { return none; }
  /// Made from one number that stands for as many as the call asks for.
  bool isOne() const { return !plain && !sym && count == 1; }
  const int64_t *plainData() const { return plain; }

protected:
  const int64_t *plain = nullptr;
  const SymInt *sym = nullptr;
  size_t count = 0;
  bool none = false;
  SymInt one;
};

/// A list for which one number will do: `stride=2` for `stride=[2, 2]`.
class IntsOrOne : public IntList {
public:
  using IntList::IntList;
  template <typename T, typename = detail::IfInteger<T>>
  IntsOrOne(T value) {
    one = SymInt(value);
    count = 1;
  }
  IntsOrOne(const SymInt &value) {
    one = value;
    count = 1;
  }
};

/// A list that may be absent (`{}` or std::nullopt).
template <typename List>
class OptionalList : public List {
public:
  using List::List;
  OptionalList() { this->none = true; }
  OptionalList(std::nullopt_t) { this->none = true; }
};
using OptionalInts = OptionalList<IntList>;
using OptionalIntsOrOne = OptionalList<IntsOrOne>;

/// A list argument of floats, bools or numbers.
template <typename T>
class ListOf {
public:
  ListOf() = default;
  ListOf(std::initializer_list<T> list)
      : first(list.begin()), count(list.size()) {}
  template <typename U = T,
            typename = std::enable_if_t<!std::is_same_v<U, bool>>>
  ListOf(const std::vector<T> &list) : first(list.data()), count(list.size()) {}

  size_t size() const { return count; }
  const T *data() const { return first; }
  bool isNone() const { return none; }

protected:
  const T *first = nullptr;
  size_t count = 0;
  bool none = false;
};
using FloatList = ListOf<double>;
using OptionalFloats = OptionalList<FloatList>;
using BoolList = ListOf<bool>;
using ScalarList = ListOf<Scalar>;

#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

} // namespace ft

#endif // FORETRACE_TRACE_TYPES_H
