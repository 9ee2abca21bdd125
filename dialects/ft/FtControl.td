//===- FtControl.td - Branches and loops -------------------*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ops whose regions run once, or as often as a condition or a length says.
//
// Their regions are isolated: what a region reads is an operand of the op, and
// an argument of the region. So a pass that looks at operands (which values are
// read, which storages are shared, what a gradient goes to) sees all of it
// without a walk, and a region can be differentiated, outlined or compiled as
// a function of its own.
//
// Types on both sides of a region's border are equal (an operand and the
// argument that shows it, a yielded value and the result); `ft.refine` in front
// of `ft.yield` makes them so where branches differ. Before the fake stage
// `tensor<*x!ft.unknown>` agrees with every tensor.

include "dialects/ft/FtCall.td"

class Ft_ControlOp<string opMnemonic, list<Trait> traits = []>
    : Ft_Op<opMnemonic, traits # [
        IsolatedFromAbove, SingleBlock, RecursiveMemoryEffects,
        DeclareOpInterfaceMethods<OpAsmOpInterface,
            ["getAsmResultNames", "getAsmBlockArgumentNames"]>]>,
      Ft_Sections {
  let description = sections;
  let results = (outs Variadic<AnyType>:$results);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
  let extraClassDefinition = [{
    ::llvm::LogicalResult $cppClass::verifyRegions() {
      return ::ft::verifyControlYields(*this);
    }
    void $cppClass::getAsmResultNames(
        ::mlir::OpAsmSetValueNameFn setNameFn) {
      ::ft::atenCallResultNames(*this, setNameFn);
    }
    void $cppClass::getAsmBlockArgumentNames(
        ::mlir::Region &region, ::mlir::OpAsmSetValueNameFn setNameFn) {
      ::ft::controlArgumentNames(region, setNameFn);
    }
  }];
}

def Ft_CondOp : Ft_ControlOp<"cond"> {
  let summary = "one of two branches, chosen at run time";
  let semantics =
    "runs the first region if the predicate is true (its one element is not 0) "
    "and the second otherwise; y is what that region yields. Only one of them "
    "runs.";
  let constraints = [
    "the predicate is an i1, or a tensor of one element",
    "both regions have one argument for each captured operand, of its type",
    "both regions yield as many values as there are results, of their types",
    "the branches agree in dtype, device, rank and offset of each result, and "
    "in the order of its strides",
    "a branch writes only to tensors that it made, and yields neither a view "
    "of an argument nor one storage twice"];
  let strides =
    "those of the branches if they agree; where sizes differ, dense over the "
    "joined sizes in the order that the branches have: a size that differs is "
    "a fresh symbol between the smallest and the largest of both";
  let device = "that of the yielded values, the same in both branches";
  let gradient = "a cond on the same predicate, of the branches' gradients.";
  let recompute = "that of its most expensive operation";
  let example = [{%y = ft.cond(%p, %x) : (tensor<i1>, tensor<2xf32>) -> tensor<2xf32>
    then (%a: tensor<2xf32>) {
      %s = ft.sin(%a) : (tensor<2xf32>) -> tensor<2xf32>
      ft.yield %s : tensor<2xf32>
    } else (%a: tensor<2xf32>) {
      %c = ft.cos(%a) : (tensor<2xf32>) -> tensor<2xf32>
      ft.yield %c : tensor<2xf32>
    }
  }];
  let arguments = (ins AnyType:$predicate, Variadic<AnyType>:$captured);
  let regions = (region SizedRegion<1>:$thenRegion, SizedRegion<1>:$elseRegion);
}

def Ft_WhileOp : Ft_ControlOp<"while", [AttrSizedOperandSegments]> {
  let summary = "a body that runs while a condition holds";
  let semantics =
    "carries values, at first the init operands: as long as the first region "
    "yields true for them, they become what the second yields. The results are "
    "the last ones.";
  let constraints = [
    "both regions have one argument for each init operand and then one for "
    "each captured operand, of their types",
    "the first region yields an i1, or a tensor of one element",
    "the second yields as many values as there are init operands, and there "
    "are as many results, of their types",
    "a carried value keeps its layout: sizes, strides, dtype and device of "
    "what the body yields are those of what it gets",
    "a region writes only to tensors that it made, and yields neither a view "
    "of an argument nor one storage twice"];
  let strides = "those of the carried values, which are dense: an init operand "
                "that is not, or that has an offset, is cloned in front";
  let device = "that of the init operands";
  let gradient = "the body's gradient, as often backward as the loop ran; the "
                 "carried values of each iteration are kept.";
  let recompute = "never: the number of iterations is not known";
  let example = [{%n, %y = ft.while(%i, %x) captured(%w) : (tensor<i64>, tensor<2xf32>, tensor<2xf32>) -> (tensor<i64>, tensor<2xf32>)
    cond (%k: tensor<i64>, %a: tensor<2xf32>, %b: tensor<2xf32>) {
      %lt = ft.lt.Scalar(%k, 5) : (tensor<i64>) -> tensor<i1>
      ft.yield %lt : tensor<i1>
    } do (%k: tensor<i64>, %a: tensor<2xf32>, %b: tensor<2xf32>) {
      %next = ft.add(%k, 1) : (tensor<i64>) -> tensor<i64>
      %m = ft.mul(%a, %b) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
      ft.yield %next, %m : tensor<i64>, tensor<2xf32>
    }
  }];
  let arguments = (ins Variadic<AnyType>:$inits, Variadic<AnyType>:$captured);
  let regions = (region SizedRegion<1>:$condRegion, SizedRegion<1>:$bodyRegion);
}

def Ft_ScanOp : Ft_ControlOp<"scan", [AttrSizedOperandSegments]> {
  let summary = "a body over the positions of a dim, with carried values";
  let semantics =
    "runs the body for each position of dim `dim` of the xs, backward with "
    "`reverse`: it gets the carried values (at first the init operands), the "
    "xs at that position, and the captured operands, and yields the next "
    "carried values, then one value for each stacked result. Without init "
    "operands it is a map.";
  let constraints = [
    "there is at least one operand in xs; all have the same size in dim, which "
    "is in [−rank, rank) of each",
    "the region has one argument for each init operand, then for each of the "
    "xs (of its type without dim), then for each captured operand",
    "it yields one value for each result, at least one for each init operand",
    "a carried value keeps its layout",
    "dim is in [−rank − 1, rank] of each stacked value",
    "the body writes only to tensors that it made, and yields neither a view "
    "of an argument nor one storage twice"];
  let strides = "carried results: those of the carried values; stacked ones: "
                "row-major with the positions as the first dim, which is then "
                "moved to dim";
  let device = "that of the yielded values";
  let gradient = "a scan the other way over the carried values of each "
                 "position, which are kept.";
  let recompute = "memory-bound: recomputed where that moves fewer bytes than "
                  "keeping the results";
  let example = [{%c, %ys = ft.scan init(%h) over(%x) : (tensor<2xf32>, tensor<4x2xf32>) -> (tensor<2xf32>, tensor<4x2xf32>)
    do (%a: tensor<2xf32>, %b: tensor<2xf32>) {
      %s = ft.add(%a, %b) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
      %t = ft.tanh(%s) : (tensor<2xf32>) -> tensor<2xf32>
      ft.yield %s, %t : tensor<2xf32>, tensor<2xf32>
    }
  }];
  let arguments = (ins Variadic<AnyType>:$inits, Variadic<AnyType>:$xs,
                   Variadic<AnyType>:$captured,
                   DefaultValuedAttr<I64Attr, "0">:$dim, UnitAttr:$reverse);
  let regions = (region SizedRegion<1>:$bodyRegion);
}

def Ft_YieldOp : Ft_Op<"yield", [
    Terminator, Pure, ParentOneOf<["CondOp", "WhileOp", "ScanOp"]>]> {
  let summary = "ends a region of ft.cond, ft.while or ft.scan with its values";
  let description = [{
    What the values are is said by the op around the region.

    ```mlir
    ft.yield %a, %b : tensor<2xf32>, tensor<i64>
    ```
  }];
  let arguments = (ins Variadic<AnyType>:$values);
  let assemblyFormat = "attr-dict ($values^ `:` type($values))?";
}

def Ft_RefineOp : Ft_Op<"refine", [Pure]>, Ft_Sections {
  let summary = "the same tensor under another annotation, checked at run time";
  let semantics =
    "y is x: sizes, strides and offset of both annotations are the same "
    "numbers in every run. A symbol of y that no value before it has, or that "
    "the op around it joins (the size of one of two branches), stands for x's "
    "size from here on; elsewhere the equality is checked.";
  let constraints = [
    "x and y are tensors of one rank, dtype, device, conj and neg, if both are "
    "annotated",
    "a size, a stride of a dim of more than one position and the offset are "
    "equal, or one of the two is symbolic"];
  let strides = "the given ones, which those of x equal; other strides take a "
                "copy";
  let device = kViewDevice;
  let gradient = "dy under the annotation of x.";
  let recompute = kFree;
  let example = "%y = ft.refine %x : tensor<2x3xf32, #ft.meta<cpu>> -> "
                "tensor<?x3xf32, #ft.meta<[u0], cpu>>";
  let description = sections;
  let arguments = (ins AnyTensor:$input);
  let results = (outs AnyTensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
  let hasVerifier = 1;
}
