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

    Inserted by import (backed symbols, `source = "x:0"`) and by the fake pass
    (unbacked ones, `source` is the value that made them); consumed by every
    stage.

    ```mlir
    ft.symbol "s0" {lower = 2 : i64, upper = 64 : i64, hint = 4 : i64,
                    source = "x:0", title = "batch"}
    ```
  }];
  let arguments = (ins StrAttr:$sym, OptionalAttr<I64Attr>:$lower,
                   OptionalAttr<I64Attr>:$upper, OptionalAttr<I64Attr>:$hint,
                   OptionalAttr<StrAttr>:$source, OptionalAttr<StrAttr>:$title);
  let assemblyFormat = "$sym attr-dict";
  let hasVerifier = 1;
}

def Ft_FactOp : Ft_Op<"fact"> {
  let summary = "a relation between symbols that the module's inputs satisfy";
  let description = [{
    Inserted by import from the guards of an archive and by the fake pass for
    each guard; checked at the artefact's entry.

    ```mlir
    ft.fact "s0 <= 64"
    ```
  }];
  let arguments = (ins StrAttr:$relation, OptionalAttr<StrAttr>:$cause);
  let assemblyFormat = "$relation attr-dict";
  let hasVerifier = 1;
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
    the message.

    Inserted by the lowering rules of gathers and scatters; consumed by the
    lower stage when it builds the entry function; illegal after it.

    ```mlir
    ft.check_index %min, %max {low = -4 : i64, high = 4 : i64, size = 4 : i64,
                               where = "index"} : tensor<i64>, tensor<i64>
    ```
  }];
  let arguments = (ins AnyType:$min, AnyType:$max, I64Attr:$low, I64Attr:$high,
                   I64Attr:$size, StrAttr:$where);
  let assemblyFormat = "$min `,` $max attr-dict `:` type($min) `,` type($max)";
}
