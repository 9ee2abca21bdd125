//===- FtBase.td - The ft dialect, its attributes and types -*- tablegen -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#ifndef FT_BASE
#define FT_BASE

include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinTypeInterfaces.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/TensorEncoding.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Ft_Dialect : Dialect {
  let name = "ft";
  let cppNamespace = "::ft";
  let summary = "Tensor programs as ATen defines them, with every layout known";
  let description = [{
    Values are builtin tensors. Before the fake pass a value may be
    `tensor<*x!ft.unknown>`; after it every tensor type carries a `#ft.meta`
    encoding: the sizes that are symbolic, the strides where they are not
    row-major, the storage offset, the device, the conj and neg flags.

    Every operation that computes is one call of an ATen overload. Its schema
    (names, types and defaults of the arguments, aliasing, mutation) is a row
    of AtenOps.def; operands and the `args` attribute hold the arguments in the
    order of that schema, defaults filled in. An overload that a pass names in
    C++ has an op of its own (`ft.linear`); the others are
    `ft.aten "digamma"`. Both forms have the same storage, syntax, verifier and
    contracts, so moving one into the other changes no rule.
  }];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let extraClassDeclaration = [{
    /// The schema of the operation `name` ("ft.linear"); null if it is no call.
    const ::ft::Schema *schemaOf(::mlir::OperationName name) const;

    /// Owns the symbolic expressions that types of this context hold.
    ::ft::SymContext &symbolContext() { return symbols; }

  private:
    void registerFtOps();
    void registerFtAttributes();
    void registerFtTypes();
    ::llvm::DenseMap<::mlir::OperationName, const ::ft::Schema *> schemas;
    ::ft::SymContext symbols;
  }];
}

//===----------------------------------------------------------------------===//
// Attributes
//===----------------------------------------------------------------------===//

class Ft_Attr<string name, string attrMnemonic, list<Trait> traits = []>
    : AttrDef<Ft_Dialect, name, traits> {
  let mnemonic = attrMnemonic;
}

def Ft_MetaAttr : Ft_Attr<"Meta", "meta", [
    DeclareAttrInterfaceMethods<VerifiableTensorEncoding>]> {
  let summary = "layout, device and flags of a tensor value";
  let description = [{
    The encoding of an annotated tensor type. Only what the type does not say is
    stored: sizes where an extent is `?`, strides where they are not row-major.

    Inserted by the fake pass (and by import for what an archive declares, in
    `ft.declared`); consumed by every later stage; dropped by lower, which makes
    layouts explicit.

    ```mlir
    tensor<2x16xf32, #ft.meta<cpu>>
    tensor<4x3xf32, #ft.meta<strides = [1, 4], cpu>>
    tensor<?x4xf32, #ft.meta<[s0], offset = 8, cuda:0>>
    tensor<?x?xf32, #ft.meta<[s0, "2*s0 + 1"], cpu>>
    ```
  }];
  let parameters = (ins
    ArrayRefParameter<"::ft::Dim", "sizes, if any is symbolic">:$sizes,
    ArrayRefParameter<"::ft::Dim", "strides, if not row-major">:$strides,
    "::ft::Dim":$offset,
    "::ft::Device":$device,
    "bool":$conj,
    "bool":$neg);
  let hasCustomAssemblyFormat = 1;
}

def Ft_DeviceAttr : Ft_Attr<"Device", "device"> {
  let summary = "a device argument of a call: `#ft.device<cuda:0>`";
  let parameters = (ins "::ft::Device":$device);
  let hasCustomAssemblyFormat = 1;
}

def Ft_OperandAttr : Ft_Attr<"Operand", "operand"> {
  let summary = "in `args`: this argument is the call's next operand";
}

def Ft_NoneAttr : Ft_Attr<"None", "none"> {
  let summary = "in `args`: this optional argument is absent";
}

def Ft_ComplexAttr : Ft_Attr<"Complex", "complex"> {
  let summary = "in `args`: a complex number";
  let parameters = (ins "::mlir::FloatAttr":$real, "::mlir::FloatAttr":$imag);
  let assemblyFormat = "`<` $real `,` $imag `>`";
}

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

def Ft_UnknownType : TypeDef<Ft_Dialect, "Unknown",
    [DeclareTypeInterfaceMethods<VectorElementTypeInterface>]> {
  let mnemonic = "unknown";
  let summary = "the element type of a value that is not annotated yet";
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

class Ft_Op<string opMnemonic, list<Trait> traits = []>
    : Op<Ft_Dialect, opMnemonic, traits>;

def Ft_AtenCall : NativeOpTrait<"AtenCallTrait"> {
  let cppNamespace = "::ft";
}

/// One ATen overload as an op of its own. The mnemonic decides which: the name
/// of the overload "default" (or, if there is none, of "Tensor") is bare, any
/// other is `name.overload`.
class Ft_AtenOp<string opMnemonic, list<Trait> traits = []>
    : Ft_Op<opMnemonic, traits # [
        Ft_AtenCall,
        DeclareOpInterfaceMethods<MemoryEffectsOpInterface>,
        DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let arguments = (ins Variadic<AnyType>:$operands, ArrayAttr:$args);
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

#endif // FT_BASE
