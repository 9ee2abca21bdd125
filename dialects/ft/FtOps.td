//===- FtOps.td - Operations that belong to no family ------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

include "dialects/ft/FtBase.td"

/// A call that names its operator in an attribute: one op for many operators.
class Ft_CalleeOp<string opMnemonic> : Ft_Op<opMnemonic, [
    Ft_AtenCall,
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let cppNamespace = "::ft";
  let arguments = (ins StrAttr:$callee, Variadic<AnyType>:$operands,
                   ArrayAttr:$args);
  let results = (outs Variadic<AnyType>:$results);
  let hasCustomAssemblyFormat = 1;
  let extraClassDefinition = [{
    ::mlir::ParseResult $cppClass::parse(::mlir::OpAsmParser &parser,
                                         ::mlir::OperationState &result) {
      return ::ft::parseAtenCall(parser, result);
    }
    void $cppClass::print(::mlir::OpAsmPrinter &printer) {
      ::ft::printAtenCall(printer, *this);
    }
    void $cppClass::getEffects(
        ::mlir::SmallVectorImpl<::mlir::SideEffects::EffectInstance<
            ::mlir::MemoryEffects::Effect>> &effects) {
      ::ft::atenCallEffects(*this, effects);
    }
    void $cppClass::getAsmResultNames(
        ::mlir::OpAsmSetValueNameFn setNameFn) {
      ::ft::atenCallResultNames(*this, setNameFn);
    }
  }];
}

def Ft_AtenGenericOp : Ft_CalleeOp<"aten"> {
  let summary = "call of an ATen overload that has no op of its own";
  let description = [{
    `callee` names a row of AtenOps.def; the arguments are written as in any
    other call.

    ```mlir
    %y = ft.aten "digamma"(%x) : (tensor<4xf32>) -> tensor<4xf32>
    ```
  }];
}

def Ft_CustomCallOp : Ft_CalleeOp<"custom"> {
  let summary = "call of an operator that is registered at run time";
  let description = [{
    `callee` names a custom operator (CustomOps.h, foretrace/plugin.h). When it
    is registered, the call is like any other: its arguments follow the schema.

    ```mlir
    %y = ft.custom "demo::scale"(%x, factor = 2.0)
           : (tensor<4xf32>) -> tensor<4xf32>
    ```

    A call whose operator is not registered can be read and printed, no more:
    `args` holds what is written, `ft.keywords` the names of the last ones.
    Import reports all such operators together, so that later stages never meet
    one.

    Functionalization turns a call that writes arguments into one of
    `"demo::scale_#functional"`, which returns their new values. Consumed by
    lower.
  }];
}

def Ft_KernelCallOp : Ft_Op<"kernel_call", [
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "call of a C kernel on builtin tensors";
  let description = [{
    `callee` is the operator, `symbol` its kernel (foretrace/kernel.h), which
    `files` define. `args` holds the arguments as the call of the operator did. `types` has the
    annotated type of each operand and each result, `orders` which logical dim
    each of its physical dims holds. Operand i stands in the memory of result
    `written[i]`, which starts as a copy of it; -1: it is only read. An operand
    with `as_is` is an input of the model in the strides that the kernel is to
    see; the others are handed over row-major in their physical order.
    A callee without "::" is an ATen operator, its kernel one of
    runtime/kernels, and no file is needed.

    Inserted by the lowering rules of custom operators, factorisations and
    transforms; consumed by the lower
    stage when it builds the entry function; illegal after it.

    ```mlir
    %r = ft.kernel_call "demo::scale" "demo_scale"(%x) {
           files = ["/lib/demo.o"], args = [#ft.operand, 2.0 : f64], types = […], orders = […],
           written = array<i64: -1>, as_is = array<i1: false>}
         : (tensor<4xf32>) -> tensor<4xf32>
    ```
  }];
  let arguments = (ins StrAttr:$callee, StrAttr:$symbol, StrArrayAttr:$files,
                   Variadic<AnyType>:$operands, ArrayAttr:$args,
                   TypeArrayAttr:$types, ArrayAttr:$orders,
                   DenseI64ArrayAttr:$written, DenseBoolArrayAttr:$as_is,
                   UnitAttr:$has_effects);
  let results = (outs Variadic<AnyType>:$results);
  let assemblyFormat = [{
    $callee $symbol `(` $operands `)` attr-dict `:`
    functional-type($operands, $results)
  }];
}

def Ft_SymbolOp : Ft_Op<"symbol"> {
  let summary = "a symbolic size of the module: its range, hint and source";
  let description = [{
    Stands at module level, one for each symbol that a `#ft.meta` of the module
    may name, of at least one number in its range. It is no MLIR Symbol: a symbol used only in types would be
    deleted by `symbol-dce`.

    `lower` and `upper` are the sizes that are accepted (checked at the
    artefact's entry), `hint` the size of the example, `title` the user's name.
    `source` is the dim that has the size, or the number that it is, for a
    symbol of the inputs; for others the operator that made it.
    `traced_lower` is a bound that the tracer took for granted without being
    asked, and that is not relied on: the archive's claims hold above it.

    Inserted by import (backed symbols, `source = "x:0"`) and by the fake pass
    (unbacked ones, `source` is the value that made them); consumed by every
    stage.

    ```mlir
    ft.symbol "s0" {lower = 0 : i64, upper = 64 : i64, hint = 4 : i64,
                    source = "x:0", title = "batch", traced_lower = 2 : i64}
    ```
  }];
  let arguments = (ins StrAttr:$sym, OptionalAttr<I64Attr>:$lower,
                   OptionalAttr<I64Attr>:$upper, OptionalAttr<I64Attr>:$hint,
                   OptionalAttr<StrAttr>:$source, OptionalAttr<StrAttr>:$title,
                   OptionalAttr<I64Attr>:$traced_lower);
  let assemblyFormat = "$sym attr-dict";
  let hasVerifier = 1;
}

def Ft_FactOp : Ft_Op<"fact"> {
  let summary = "a relation between sizes of inputs, checked at the entry";
  let description = [{
    Every relation is checked when the artefact is called, except for those
    with `implied_by`: the facts of these ids, with the ranges of the symbols
    and the relations that were declared, imply it (an empty list: those alone
    do).

    Without an `id` it is declared: by the archive, whose text is the `cause`,
    or by the user. With one it is a guard of the fake pass: the program needs
    it, and the operator `cause` at `place`, the first one that does, says why.

    Inserted by import and by the fake pass, which makes its guards anew each
    time; consumed by every stage.

    ```mlir
    ft.fact "s1 <= 64" {cause = "L['x'].size()[1] <= 64"}
    ft.fact "s0 % 4 == 0" {id = "g0", cause = "view", place = "view_1, net.py:12"}
    ft.fact "s0 % 2 == 0" {id = "g1", cause = "view", implied_by = ["g0"]}
    ```
  }];
  let arguments = (ins StrAttr:$relation, OptionalAttr<StrAttr>:$cause,
                   OptionalAttr<StrAttr>:$id, OptionalAttr<StrAttr>:$place,
                   OptionalAttr<StrArrayAttr>:$implied_by);
  let assemblyFormat = "$relation attr-dict";
  let hasVerifier = 1;
}

def Ft_AssertOp : Ft_Op<"assert", [
    DeclareOpInterfaceMethods<MemoryEffectsOpInterface>]> {
  let summary = "a relation between sizes that data decide, checked in passing";
  let description = [{
    Stands in `@forward` or a region of it, in front of the first operation that
    needs it: every symbol of the relation has been made by then. The operator
    `cause` at `place` is that operation; what the program checks by itself
    (`_assert_scalar`) has no such operation.

    Inserted by the fake pass, which makes its own anew each time; lowered to a
    check that fails the call.

    ```mlir
    ft.assert "u0 == u1" {id = "a0", cause = "add", place = "add_2, net.py:7"}
    ```
  }];
  let arguments = (ins StrAttr:$relation, StrAttr:$id,
                   OptionalAttr<StrAttr>:$cause, OptionalAttr<StrAttr>:$place);
  let assemblyFormat = "$relation attr-dict";
  let hasVerifier = 1;
}

def Ft_RunGraphsOp : Ft_Op<"run_graphs"> {
  let summary = "runs functions that branches or the parts of a loop became";
  let description = [{
    `"cond"`: the first operand is a 0-dim bool; the first graph runs on the
    others if it is true, the second otherwise. `"while"`: the first `carried`
    operands change from one iteration to the next; while the first graph gives
    true for all operands, they become what the second gives. `"scan"`: the graph
    runs once for each position of the `ft.sliced` operands behind the carried
    ones, from the last one with `ft.reverse`, on what is carried, their slices
    and the other operands; it gives what is carried next, and the slices at that
    position of the results behind the carried ones. `types` has the annotated
    type of each result. All tensors are row-major, sliced ones along their first
    dim.

    Inserted by the lower stage for `ft.cond`, `ft.while` and `ft.scan`; consumed
    by it when it builds the entry function.

    ```mlir
    %r = ft.run_graphs "cond" [@graph0, @graph1] 0 (%p, %x) {types = […]}
         : (tensor<i8>, tensor<2xf32>) -> tensor<2xf32>
    ```
  }];
  let arguments = (ins StrAttr:$kind, ArrayAttr:$graphs, I64Attr:$carried,
                   Variadic<AnyType>:$operands, TypeArrayAttr:$types);
  let results = (outs Variadic<AnyType>:$results);
  let assemblyFormat = [{
    $kind $graphs $carried `(` $operands `)` attr-dict `:`
    functional-type($operands, $results)
  }];
}

def Ft_SizeOp : Ft_Op<"size_of", [Pure]> {
  let summary = "a size of the run, as a number";
  let description = [{
    `expression` is a sum, product or quotient of symbols of the module
    (SymExpr). Stands where builtin operations want a size that is not known at
    compile time: `tensor.empty(%n)`, a divisor of a mean.

    Inserted by the lower stage, in which every `?` of a tensor's shape leads
    to one; in a kernel its symbols are arguments (`ft.symbol`). Consumed by
    codegen.

    ```mlir
    %n = ft.size_of "4*s0 + 1"
    %e = tensor.empty(%n) : tensor<?xf32>
    ```
  }];
  let arguments = (ins StrAttr:$expression);
  let results = (outs Index:$result);
  let assemblyFormat = "$expression attr-dict";
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The expression; of a verified operation never null.
    ::ft::Dim dim();
  }];
}

def Ft_SetSizeOp : Ft_Op<"set_size"> {
  let summary = "tells a size that the data decide";
  let description = [{
    From here on the symbol has the value of `$value`, a 0-dim tensor of int64.
    Fails the call if that is outside of [`lower`, `upper`], saying what `cause`
    gave it.

    Inserted by the lower stage where a number or a kernel's finding is a size
    of what follows; consumed by it when it builds the entry function.

    ```mlir
    ft.set_size "u0", %n in [0, 64] {cause = "nonzero"} : tensor<i64>
    ```
  }];
  let arguments = (ins StrAttr:$sym, AnyType:$value, I64Attr:$lower,
                   I64Attr:$upper, OptionalAttr<StrAttr>:$cause);
  let assemblyFormat = [{
    $sym `,` $value `in` `[` $lower `,` $upper `]` attr-dict `:` type($value)
  }];
}

def Ft_CheckTrueOp : Ft_Op<"check_true"> {
  let summary = "fails the call at run time unless a condition holds";
  let description = [{
    `condition` is a 0-dim tensor that holds 0 or 1; `message` is what the
    status says when it is 0.

    Inserted by the lowering rules of assertions and of operators on numbers;
    consumed by the lower stage when it builds the entry function; illegal after
    it.

    ```mlir
    ft.check_true %ok {message = "n >= 0"} : tensor<i8>
    ```
  }];
  let arguments = (ins AnyType:$condition, StrAttr:$message);
  let assemblyFormat = "$condition attr-dict `:` type($condition)";
}

def Ft_CheckIndexOp : Ft_Op<"check_index"> {
  let summary = "fails the call at run time unless min and max are in range";
  let description = [{
    `min` and `max` are the extremes of an integer tensor that is about to be
    used as indices; both must be in `[low, high)`. `size` and `where` go into
    the message. Where these are sizes of the run, `bounds` has their
    expressions in this order, and the numbers are not looked at.

    Inserted by the lowering rules of gathers and scatters; consumed by the
    lower stage when it builds the entry function; illegal after it.

    ```mlir
    ft.check_index %min, %max {low = -4 : i64, high = 4 : i64, size = 4 : i64,
                               where = "index"} : tensor<i64>, tensor<i64>
    ```
  }];
  let arguments = (ins AnyType:$min, AnyType:$max, I64Attr:$low, I64Attr:$high,
                   I64Attr:$size, StrAttr:$where,
                   OptionalAttr<StrArrayAttr>:$bounds);
  let assemblyFormat = "$min `,` $max attr-dict `:` type($min) `,` type($max)";
}
