module { func.func private @f(tensor<, #ft.meta<cpu>>) }
