module {
  tt.func public @kernel(%arg0: !tt.ptr<i32> {tt.divisibility = 16 : i32}, %arg1: !tt.ptr<i32> {tt.divisibility = 16 : i32}) attributes {noinline = false} {
    %cst = arith.constant dense<0> : tensor<4x64xi32>
    %cst_0 = arith.constant dense<1> : tensor<1x2x1xi32>
    %cst_1 = arith.constant dense<15> : tensor<4x64xi32>
    %cst_2 = arith.constant dense<255> : tensor<4x64xi32>
    %cst_3 = arith.constant dense<64> : tensor<4x1xi32>
    %0 = tt.make_range {end = 4 : i32, start = 0 : i32} : tensor<4xi32>
    %1 = tt.expand_dims %0 {axis = 1 : i32} : tensor<4xi32> -> tensor<4x1xi32>
    %2 = arith.muli %1, %cst_3 : tensor<4x1xi32>
    %3 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32>
    %4 = tt.expand_dims %3 {axis = 0 : i32} : tensor<64xi32> -> tensor<1x64xi32>
    %5 = tt.broadcast %2 : tensor<4x1xi32> -> tensor<4x64xi32>
    %6 = tt.broadcast %4 : tensor<1x64xi32> -> tensor<4x64xi32>
    %7 = arith.addi %5, %6 : tensor<4x64xi32>
    %8 = tt.splat %arg1 : !tt.ptr<i32> -> tensor<4x64x!tt.ptr<i32>>
    %9 = tt.addptr %8, %7 : tensor<4x64x!tt.ptr<i32>>, tensor<4x64xi32>
    %10 = tt.splat %arg0 : !tt.ptr<i32> -> tensor<4x64x!tt.ptr<i32>>
    %11 = tt.addptr %10, %7 : tensor<4x64x!tt.ptr<i32>>, tensor<4x64xi32>
    %12 = tt.load %11 : tensor<4x64x!tt.ptr<i32>>
    %13 = tt.make_range {end = 2 : i32, start = 0 : i32} : tensor<2xi32>
    %14 = tt.expand_dims %13 {axis = 0 : i32} : tensor<2xi32> -> tensor<1x2xi32>
    %15 = tt.expand_dims %14 {axis = 2 : i32} : tensor<1x2xi32> -> tensor<1x2x1xi32>
    %16 = tt.broadcast %15 : tensor<1x2x1xi32> -> tensor<64x2x2xi32>
    %17 = tt.reshape %16 : tensor<64x2x2xi32> -> tensor<4x64xi32>
    %18 = tt.reshape %12 : tensor<4x64xi32> -> tensor<128x2x1xi32>
    %19 = arith.subi %cst_0, %15 : tensor<1x2x1xi32>
    %20 = tt.broadcast %19 : tensor<1x2x1xi32> -> tensor<128x2x1xi32>
    %21 = arith.muli %18, %20 : tensor<128x2x1xi32>
    %22 = "tt.reduce"(%21) <{axis = 1 : i32}> ({
    ^bb0(%arg2: i32, %arg3: i32):
      %1107 = arith.addi %arg2, %arg3 : i32
      tt.reduce.return %1107 : i32
    }) : (tensor<128x2x1xi32>) -> tensor<128x1xi32>
    %23 = tt.expand_dims %22 {axis = 1 : i32} : tensor<128x1xi32> -> tensor<128x1x1xi32>
    %24 = tt.broadcast %23 : tensor<128x1x1xi32> -> tensor<128x2x1xi32>
    %25 = tt.broadcast %15 : tensor<1x2x1xi32> -> tensor<128x2x1xi32>
    %26 = arith.muli %18, %25 : tensor<128x2x1xi32>
    %27 = "tt.reduce"(%26) <{axis = 1 : i32}> ({
    ^bb0(%arg2: i32, %arg3: i32):
      %1107 = arith.addi %arg2, %arg3 : i32
      tt.reduce.return %1107 : i32
    }) : (tensor<128x2x1xi32>) -> tensor<128x1xi32>
    %28 = tt.expand_dims %27 {axis = 1 : i32} : tensor<128x1xi32> -> tensor<128x1x1xi32>
    %29 = tt.broadcast %28 : tensor<128x1x1xi32> -> tensor<128x2x1xi32>
    %30 = tt.reshape %24 : tensor<128x2x1xi32> -> tensor<4x64xi32>
    %31 = tt.reshape %29 : tensor<128x2x1xi32> -> tensor<4x64xi32>
    %32 = arith.cmpi sgt, %30, %31 : tensor<4x64xi32>
    %33 = arith.extui %32 : tensor<4x64xi1> to tensor<4x64xi32>
    %34 = arith.cmpi ne, %33, %17 : tensor<4x64xi32>
    %35 = arith.xori %30, %31 : tensor<4x64xi32>
    %36 = arith.select %34, %35, %cst : tensor<4x64xi1>, tensor<4x64xi32>
    %37 = arith.xori %12, %36 : tensor<4x64xi32>
    %38 = tt.broadcast %15 : tensor<1x2x1xi32> -> tensor<32x2x4xi32>
    %39 = tt.reshape %38 : tensor<32x2x4xi32> -> tensor<4x64xi32>
    %40 = tt.reshape %37 : tensor<4x64xi32> -> tensor<64x2x2xi32>
    %41 = tt.broadcast %19 : tensor<1x2x1xi32> -> tensor<64x2x2xi32>
    %42 = arith.muli %40, %41 : tensor<64x2x2xi32>
    %43 = "tt.reduce"(%42) <{axis = 1 : i32}> ({
    ^bb0(%arg2: i32, %arg3: i32):
      %1107 = arith.addi %arg2, %arg3 : i32
      tt.reduce.return %1107 : i32
    }) : (tensor<64x2x2xi32>) -> tensor<64x2xi32>
    %44 = tt.expand_dims %43 {axis = 1 : i32} : tensor<64x2xi32> -> tensor<64x1x2xi32>
    %45 = tt.broadcast %44 : tensor<64x1x2xi32> -> tensor<64x2x2xi32>
    %46 = arith.muli %40, %16 : tensor<64x2x2xi32>
    %47 = "tt.reduce"(%46) <{axis = 1 : i32}> ({
    ^bb0(%arg2: i32, %arg3: i32):
      %1107 = arith.addi %arg2, %arg3 : i32
      tt.reduce.return %1107 : i32
    }) : (tensor<64x2x2xi32>) -> tensor<64x2xi32>
    %48 = tt.expand_dims %47 {axis = 1 : i32} : tensor<64x2xi32> -> tensor<64x1x2xi32>
    %49 = tt.broadcast %48 : tensor<64x1x2xi32> -> tensor<64x2x2xi32>
    %50 = tt.reshape %45 : tensor<64x2x2xi32> -> tensor<4x64xi32>
    %51 = tt.reshape %49 : tensor<64x2x2xi32> -> tensor<4x64xi32>
    %52 = arith.cmpi sgt, %50, %51 : tensor<4x64xi32>
    %53 = arith.extui %52 : tensor<4x64xi1> to tensor<4x64xi32>
    %54 = arith.cmpi ne, %53, %39 : tensor<4x64xi32>
    %55 = arith.xori %50, %51 : tensor<4x64xi32>
    %56 = arith.select %54, %55, %cst : tensor<4x64xi1>, tensor<4x64xi32>
    %57 = arith.xori %37, %56 : tensor<4x64xi32>
    %58 = tt.reshape %57 : tensor<4x64xi32> -> tensor<128x2x1xi32>
    %59 = arith.muli %58, %20 : tensor<128x2x1xi32>
    %60 = "tt.reduce"(%59) <{axis = 1 : i32}> ({
    ^bb0(%arg2: i32, %arg3: i32):
      %1107 = arith.addi %arg2, %arg3 : i32
      tt.reduce.return %1107 : i32
    }) : (tensor<128x2x1xi32>) -> tensor<128x1xi32>
    %61 = tt.expand_dims %60 {axis = 1 : i32} : tensor<128x1xi32> -> tensor<128x1x1xi32>
    %62 = tt.broadcast %61 : tensor<128x1x1xi32> -> tensor<128x2x1xi32>
    %63 = arith.muli %58, %25 : tensor<128x2x1xi32>
    %64 = "tt.reduce"(%63) <{axis = 1 : i32}> ({
    ^bb0(%arg2: i32, %arg3: i32):
      %1107 = arith.addi %arg2, %arg3 : i32
      tt.reduce.return %1107 : i32
    }) : (tensor<128x2x1xi32>) -> tensor<128x1xi32>
    %65 = tt.expand_dims %64 {axis = 1 : i32} : tensor<128x1xi32> -> tensor<128x1x1xi32>
    %66 = tt.broadcast %65 : tensor<128x1x1xi32> -> tensor<128x2x1xi32>
    %67 = tt.reshape %62 : tensor<128x2x1xi32> -> tensor<4x64xi32>
    %68 = tt.reshape %66 : tensor<128x2x1xi32> -> tensor<4x64xi32>
    %69 = arith.cmpi sgt, %67, %68 : tensor<4x64xi32>
    %70 = arith.extui %69 : tensor<4x64xi1> to tensor<4x64xi32>
    %71 = arith.cmpi ne, %70, %39 : tensor<4x64xi32>
    %72 = arith.xori %67, %68 : tensor<4x64xi32>
    %73 = arith.select %71, %72, %cst : tensor<4x64xi1>, tensor<4x64xi32>
    %74 = arith.xori %57, %73 : tensor<4x64xi32>
    %75 = tt.broadcast %15 : tensor<1x2x1xi32> -> tensor<16x2x8xi32>
    %76 = tt.reshape %75 : tensor<16x2x8xi32> -> tensor<4x64xi32>
    %77 = tt.reshape %74 : tensor<4x64xi32> -> tensor<32x2x4xi32>
    %78 = tt.broadcast %19 : tensor<1x2x1xi32> -> tensor<32x2x4xi32>
    %79 = arith.muli %77, %78 : tensor<32x2x4xi32>
    %80 = "tt.reduce"(%79) <{axis = 1 : i32}> ({
    ^bb0(%arg2: i32, %arg3: i32):
      %1107 = arith.addi %arg2, %arg3 : i32
      tt.reduce.return %1107 : i32
    }) : (tensor<32x2x4xi32>) -> tensor<32x4xi32>
    %81 = tt.expand_dims %80 {axis = 1 : i32} : tensor<32x4xi32> -> tensor<32x1x4xi32>
    %82 = tt.broadcast %81 : tensor<32x1x4xi32> -> tensor<32x2x4xi32>
    %83 = arith.muli %77, %38 : tensor<32x2x4xi32>
    %84 = "tt.reduce"(%83) <{axis = 1 : i32}> ({
    ^bb0(%arg2: i32, %arg3: i32):
      %1107 = arith.addi %arg2, %arg3 : i32
      tt.reduce.return %1107 : i32
    }) : (tensor<32x2x4xi32>) -> tensor<32x4xi32>
    %85 = tt.expand_dims %84 {axis = 1 : i32} : tensor<32x4xi32> -> tensor<32x1x4xi32>
    %86 = tt.broadcast %85 : tensor<32x1x4xi32> -> tensor<32x2x4xi32>
    %87 = tt.reshape %82 : tensor<32x2x4xi32> -> tensor<4x64xi32>
    %88 = tt.reshape %86 : tensor<32x2x4xi32> -> tensor<4x64xi32>
    %89 = arith.cmpi sgt, %87, %88 : tensor<4x64xi32>
    %90 = arith.extui %89 : tensor<4x64xi1> to tensor<4x64xi32>
    %91 = arith.cmpi ne, %90, %76 : tensor<4x64xi32>
    %92 = arith.xori %87, %88 : tensor<4x64xi32>
    %93 = arith.select %91, %92, %cst : tensor<4x64xi1>, tensor<4x64xi32>
    %94 = arith.xori %74, %93 : tensor<4x64xi32>
    %95 = tt.reshape %94 : tensor<4x64xi32> -> tensor<64x2x2xi32>
    %96 = arith.muli %95, %41 : tensor<64x2x2xi32>
    %97 = "tt.reduce"(%96) <{axis = 1 : i32}> ({
    ^bb0(%arg2: i32, %arg3: i32):
      %1107 = arith.addi %arg2, %arg3 : i32
      tt.reduce.return %1107 : i32
    }) : (tensor<64x2x2xi32>) -> tensor<64x2xi32>
    %98 = tt.expand_dims %97 {axis = 1 : i32} : tensor<64x2xi32> -> tensor<64x1x2xi32>
    %99 = tt.broadcast %98 : tensor<64x1x2xi32> -> tensor<64x2x2xi32>
    %100 = arith.muli %95, %16 : tensor<64x2x2xi32>
    %101 = "tt.reduce"(%100) <{axis = 1 : i32}> ({
    ^bb0(%arg2: i32, %arg3: i32):
      %1107 = arith.addi %arg2, %arg3 : i32
      tt.reduce.return %1107 : i32
    }) : (tensor<64x2x2xi32>) -> tensor<64x2xi32>
    %102 = tt.expand_dims %101 {axis = 1 : i32} : tensor<64x2xi32> -> tensor<64x1x2xi32>
    %103 = tt.broadcast %102 : tensor<64x1x2xi32> -> tensor<64x2x2xi32>
    %104 = tt.reshape %99 : tensor<64x2x2xi32> -> tensor<4x64xi32>
    %105 = tt.reshape %103 : tensor<64x2x2xi32> -> tensor<4x64xi32>
    %106 = arith.cmpi sgt, %104, %105 : tensor<4x64xi32>
    %107 = arith.extui %106 : tensor<4x64xi1> to tensor<4x64xi32>
    %108 = arith.cmpi ne, %107, %76 : tensor<4x64xi32>
    %109 = arith.xori %104, %105 : tensor<4x64xi32>
    %110 = arith.select %108, %109, %cst : tensor<4x64xi1>, tensor<4x64xi32>
    %111 = arith.xori %94, %110 : tensor<4x64xi32>
    %112 = tt.reshape %111 : tensor<4x64xi32> -> tensor<128x2x1xi32>
    %113 = arith.muli %112, %20 : tensor<128x2x1xi32>
    %114 = "tt.reduce"(%113) <{axis = 1 : i32}> ({
    ^bb0(%arg2: i32, %arg3: i32):
      %1107 = arith.addi %arg2, %arg3 : i32
      tt.reduce.return %1107 : i32
    }) : (tensor<128x2x1xi32>) -> tensor<128x1xi32>
    %115 = tt.expand_dims %114 {axis = 1 : i32} : tensor<128x1xi32> -> tensor<128x1x1xi32>
    %116 = tt.broadcast %115 : tensor<128x1x1xi32> -> tensor<128x2x1xi32>
    %117 = arith.muli %112, %25 : tensor<128x2x1xi32>
    %118 = "tt.reduce"(%117) <{axis = 1 : i32}> ({
    ^bb0(%arg2: i32, %arg3: i32):
      %1107 = arith.addi %arg2, %arg3 : i32
      tt.reduce.return %1107 : i32
    }) : (tensor<128x2x1xi32>) -> tensor<128x1xi32>
    %119 = tt.expand_dims %118 {axis = 1 : i32} : tensor<128x1xi32> -> tensor<128x1x1xi32>
    %120 = tt.broadcast %119 : tensor<128x1x1xi32> -> tensor<128x2x1xi32>
    %121 = tt.reshape %116 : tensor<128x2x1xi32> -> tensor<4x64xi32>
    %122 = tt.reshape %120 : tensor<128x2x1xi32> -> tensor<4x64xi32>
    %123 = arith.cmpi sgt, %121, %122 : tensor<4x64xi32>
    %124 = arith.extui %123 : tensor<4x64xi1> to tensor<4x64xi32>
    %125 = arith.cmpi ne, %124, %76 : tensor<4x64xi32>
    %126 = arith.xori %121, %122 : tensor<4x64xi32>
    %127 = arith.select %125, %126, %cst : tensor<4x64xi1>, tensor<4x64xi32>
    %128 = arith.xori %111, %127 : tensor<4x64xi32>
    %129 = tt.broadcast %15 : tensor<1x2x1xi32> -> tensor<8x2x16xi32>
    %130 = tt.reshape %129 : tensor<8x2x16xi32> -> tensor<4x64xi32>
    %131 = tt.reshape %128 : tensor<4x64xi32> -> tensor<16x2x8xi32>
    %132 = tt.broadcast %19 : tensor<1x2x1xi32> -> tensor<16x2x8xi32>
    %133 = arith.muli %131, %132 : tensor<16x2x8xi32>
    %134 = "tt.reduce"(%133) <{axis = 1 : i32}> ({
    ^bb0(%arg2: i32, %arg3: i32):
      %1107 = arith.addi %arg2, %arg3 : i32
      tt.reduce.return %1107 : i32
    }) : (tensor<16x2x8xi32>) -> tensor<16x8xi32>
    %135 = tt.expand_dims %134 {axis = 1 : i32} : tensor<16x8xi32> -> tensor<16x1x8xi32>
    %136 = tt.broadcast %135 : tensor<16x1x8xi32> -> tensor<16x2x8xi32>
    %137 = arith.muli %131, %75 : tensor<16x2x8xi32>
    %138 = "tt.reduce"(%137) <{axis = 1 : i32}> ({
    ^bb0(%arg2: i32, %arg3: i32):
      %1107 = arith.addi %arg2, %arg3 : i32
      tt.reduce.return %1107 : i32
    }) : (tensor<16x2x8xi32>) -> tensor<16x8xi32>
    %139 = tt.expand_dims %138 {axis = 1 : i32} : tensor<16x8xi32> -> tensor<16x1x8xi32>
    %140 = tt.broadcast %139 : tensor<16x1x8xi32> -> tensor<16x2x8xi32>
    %141 = tt.reshape %136 : tensor<16x2x8xi32> -> tensor<4x64xi32>
    %142 = tt.reshape %140 : tensor<16x2x8xi32> -> tensor<4x64xi32>
    %143 = arith.cmpi sgt, %141, %142 : tensor<4x64xi32>
    %144 = arith.extui %143 : tensor<4x64xi1> to tensor<4x64xi32>
    %145 = arith.cmpi ne, %144, %130 : tensor<4x64xi32>
    %146 = arith.xori %141, %142 : tensor<4x64xi32>
    %147 = arith.select %145, %146, %cst : tensor<4x64xi1>, tensor<4x64xi32>
    %148 = arith.xori %128, %147 : tensor<4x64xi32>
    %149 = tt.reshape %148 : tensor<4x64xi32> -> tensor<32x2x4xi32>
    %150 = arith.muli %149, %78 : tensor<32x2x4xi32>
    %151 = "tt.reduce"(%150) <{axis = 1 : i32}> ({
    ^bb0(%arg2: i32, %arg3: i32):
      %1107 = arith.addi %arg2, %arg3 : i32
      tt.reduce.return %1107 : i32
    }) : (tensor<32x2x4xi32>) -> tensor<32x4xi32>
    %152 = tt.expand_dims %151 {axis = 1 : i32} : tensor<32x4xi32> -> tensor<32x1x4xi32>
    %153 = tt.broadcast %152 : tensor<32x1x4xi32> -> tensor<32x2x4xi32>
    %154 = arith.muli %149, %38 : tensor<32x2x4xi32>
    %155 = "tt.reduce"(%154) <{axis = 1 : i32}> ({
    ^bb0(%arg2: i32, %arg3: i32):
      %1107 = arith.addi %arg2, %arg3 : i32
      tt.reduce.return %1107 : i32
    }) : (tensor<32x2x4xi32>) -> tensor<32x4xi32>
    %156 = tt.expand_dims %155 {axis = 1 : i32} : tensor<32x4xi32> -> tensor<32x1x4xi32>
    %157 = tt.broadcast %156 : tensor<32x1x4xi32> -> tensor<32x2x4xi32>
    %158 = tt.reshape %153 : tensor<32x2x4xi32> -> tensor<4x64xi32>
    %159 = tt.reshape %157 : tensor<32x2x4xi32> -> tensor<4x64xi32>
    %160 = arith.cmpi sgt, %158, %159 : tensor<4x64xi32>
    %161 = arith.extui %160 : tensor<4x64xi1> to tensor<4x64xi32>
    %162 = arith.cmpi ne, %161, %130 : tensor<4x64xi32>
    %163 = arith.xori %158, %159 : tensor<4x64xi32>
    %164 = arith.select %162, %163, %cst : tensor<4x64xi1>, tensor<4x64xi32>
    %165 = arith.xori %148, %164 : tensor<4x64xi32>
    %166 = tt.reshape %165 : tensor<4x64xi32> -> tensor<64x2x2xi32>
    %167 = arith.muli %166, %41 : tensor<64x2x2xi32>
    %168 = "tt.reduce"(%167) <{axis = 1 : i32}> ({
    ^bb0(%arg2: i32, %arg3: i32):
      %1107 = arith.addi %arg2, %arg3 : i32
      tt.reduce.return %1107 : i32
    }) : (tensor<64x2x2xi32>) -> tensor<64x2xi32>
    %169 = tt.expand_dims %168 {axis = 1 : i32} : tensor<64x2xi32> -> tensor<64x1x2xi32>
    %170 = tt.broadcast %169 : tensor<64x1x2xi32> -> tensor<64x2x2xi32>
    %171 = arith.muli %166, %16 : tensor<64x2x2xi32>
    %172 = "tt.reduce"(%171) <{axis = 1 : i32}> ({
    ^bb0(%arg2: i32, %arg3: i32):
      %1107 = arith.addi %arg2, %arg3 : i32
      tt.reduce.return %1107 : i32
    }) : (tensor<64x2x2xi32>) -> tensor<64x2xi32>
    %173 = tt.expand_dims %172 {axis = 1 : i32} : tensor<64x2xi32> -> tensor<64x1x2xi32>
    %174 = tt.broadcast %173 : tensor<64x1x2xi32> -> tensor<64x2x2xi32>
    %175 = tt.reshape %170 : tensor<64x2x2xi32> -> tensor<4x64xi32>
    %176 = tt.reshape %174 : tensor<64x2x2xi32> -> tensor<4x64xi32>
    %177 = arith.cmpi sgt, %175, %176 : tensor<4x64xi32>
    %178 = arith.extui %177 : tensor<4x64xi1> to tensor<4x64xi32>
    %179 = arith.cmpi ne, %178, %130 : tensor<4x64xi32>
    %180 = arith.xori %175, %176 : tensor<4x64xi32>
    %181 = arith.select %179, %180, %cst : tensor<4x64xi1>, tensor<4x64xi32>
    %182 = arith.xori %165, %181 : tensor<4x64xi32>
    %183 = tt.reshape %182 : tensor<4x64xi32> -> tensor<128x2x1xi32>
    %184 = arith.muli %183, %20 : tensor<128x2x1xi32>
    %185 = "tt.reduce"(%184) <{axis = 1 : i32}> ({
    ^bb0(%arg2: i32, %arg3: i32):
      %1107 = arith.addi %arg2, %arg3 : i32
      tt.reduce.return %1107 : i32
    }) : (tensor<128x2x1xi32>) -> tensor<128x1xi32>
    %186 = tt.expand_dims %185 {axis = 1 : i32} : tensor<128x1xi32> -> tensor<128x1x1xi32>
    %187 = tt.broadcast %186 : tensor<128x1x1xi32> -> tensor<128x2x1xi32>
    %188 = arith.muli %183, %25 : tensor<128x2x1xi32>
    %189 = "tt.reduce"(%188) <{axis = 1 : i32}> ({
    ^bb0(%arg2: i32, %arg3: i32):
      %1107 = arith.addi %arg2, %arg3 : i32
      tt.reduce.return %1107 : i32
    }) : (tensor<128x2x1xi32>) -> tensor<128x1xi32>
    %190 = tt.expand_dims %189 {axis = 1 : i32} : tensor<128x1xi32> -> tensor<128x1x1xi32>
    %191 = tt.broadcast %190 : tensor<128x1x1xi32> -> tensor<128x2x1xi32>
    %192 = tt.reshape %187 : tensor<128x2x1xi32> -> tensor<4x64xi32>
    %193 = tt.reshape %191 : tensor<128x2x1xi32> -> tensor<4x64xi32>
    %194 = arith.cmpi sgt, %192, %193 : tensor<4x64xi32>
    %195 = arith.extui %194 : tensor<4x64xi1> to tensor<4x64xi32>
    %196 = arith.cmpi ne, %195, %130 : tensor<4x64xi32>
    %197 = arith.xori %192, %193 : tensor<4x64xi32>
    %198 = arith.select %196, %197, %cst : tensor<4x64xi1>, tensor<4x64xi32>
    %199 = arith.xori %182, %198 : tensor<4x64xi32>
    %200 = tt.broadcast %15 : tensor<1x2x1xi32> -> tensor<4x2x32xi32>
    %201 = tt.reshape %200 : tensor<4x2x32xi32> -> tensor<4x64xi32>
    %202 = tt.reshape %199 : tensor<4x64xi32> -> tensor<8x2x16xi32>
    %203 = tt.broadcast %19 : tensor<1x2x1xi32> -> tensor<8x2x16xi32>
    %204 = arith.muli %202, %203 : tensor<8x2x16xi32>
    %205 = "tt.reduce"(%204) <{axis = 1 : i32}> ({
    ^bb0(%arg2: i32, %arg3: i32):
      %1107 = arith.addi %arg2, %arg3 : i32
      tt.reduce.return %1107 : i32
    }) : (tensor<8x2x16xi32>) -> tensor<8x16xi32>
    %206 = tt.expand_dims %205 {axis = 1 : i32} : tensor<8x16xi32> -> tensor<8x1x16xi32>
    %207 = tt.broadcast %206 : tensor<8x1x16xi32> -> tensor<8x2x16xi32>
    %208 = arith.muli %202, %129 : tensor<8x2x16xi32>
    %209 = "tt.reduce"(%208) <{axis = 1 : i32}> ({
    ^bb0(%arg2: i32, %arg3: i32):
      %1107 = arith.addi %arg2, %arg3 : i32
      tt.reduce.return %1107 : i32
    }) : (tensor<8x2x16xi32>) -> tensor<8x16xi32>
    %210 = tt.expand_dims %209 {axis = 1 : i32} : tensor<8x16xi32> -> tensor<8x1x16xi32>
    %211 = tt.broadcast %210 : tensor<8x1x16xi32> -> tensor<8x2x16xi32>
    %212 = tt.reshape %207 : tensor<8x2x16xi32> -> tensor<4x64xi32>
    %213 = tt.reshape %211 : tensor<8x2x16xi32> -> tensor<4x64xi32>
    %214 = arith.cmpi sgt, %212, %213 : tensor<4x64xi32>
    %215 = arith.extui %214 : tensor<4x64xi1> to tensor<4x64xi32>
    %216 = arith.cmpi ne, %215, %201 : tensor<4x64xi32>
    %217 = arith.xori %212, %213 : tensor<4x64xi32>
    %218 = arith.select %216, %217, %cst : tensor<4x64xi1>, tensor<4x64xi32>
    %219 = arith.xori %199, %218 : tensor<4x64xi32>
    %220 = tt.reshape %219 : tensor<4x64xi32> -> tensor<16x2x8xi32>
    %221 = arith.muli %220, %132 : tensor<16x2x8xi32>
    %222 = "tt.reduce"(%221) <{axis = 1 : i32}> ({
    ^bb0(%arg2: i32, %arg3: i32):
      %1107 = arith.addi %arg2, %arg3 : i32
      tt.reduce.return %1107 : i32
    }) : (tensor<16x2x8xi32>) -> tensor<16x8xi32>
    %223 = tt.expand_dims %222 {axis = 1 : i32} : tensor<16x8xi32> -> tensor<16x1x8xi32>
    %224 = tt.broadcast %223 : tensor<16x1x8xi32> -> tensor<16x2x8xi32>
    %225 = arith.muli %220, %75 : tensor<16x2x8xi32>
    %226 = "tt.reduce"(%225) <{axis = 1 : i32}> ({
    ^bb0(%arg2: i32, %arg3: i32):
      %1107 = arith.addi %arg2, %arg3 : i32
      tt.reduce.return %1107 : i32
    }) : (tensor<16x2x8xi32>) -> tensor<16x8xi32>
    %227 = tt.expand_dims %226 {axis = 1 : i32} : tensor<16x8xi32> -> tensor<16x1x8xi32>
    %228 = tt.broadcast %227 : tensor<16x1x8xi32> -> tensor<16x2x8xi32>
    %229 = tt.reshape %224 : tensor<16x2x8xi32> -> tensor<4x64xi32>
    %230 = tt.reshape %228 : tensor<16x2x8xi32> -> tensor<4x64xi32>
    %231 = arith.cmpi sgt, %229, %230 : tensor<4x64xi32>
    %232 = arith.extui %231 : tensor<4x64xi1> to tensor<4x64xi32>
    %233 = arith.cmpi ne, %232, %201 : tensor<4x64xi32>
    %234 = arith.xori %229, %230 : tensor<4x64xi32>
    %235 = arith.select %233, %234, %cst : tensor<4x64xi1>, tensor<4x64xi32>
    %236 = arith.xori %219, %235 : tensor<4x64xi32>
    %237 = tt.reshape %236 : tensor<4x64xi32> -> tensor<32x2x4xi32>
    %238 = arith.muli %237, %78 : tensor<32x2x4xi32>
    %239 = "tt.reduce"(%238) <{axis = 1 : i32}> ({
    ^bb0(%arg2: i32, %arg3: i32):
      %1107 = arith.addi %arg2, %arg3 : i32
      tt.reduce.return %1107 : i32
    }) : (tensor<32x2x4xi32>) -> tensor<32x4xi32>
    %240 = tt.expand_dims %239 {axis = 1 : i32} : tensor<32x4xi32> -> tensor<32x1x4xi32>
    %241 = tt.broadcast %240 : tensor<32x1x4xi32> -> tensor<32x2x4xi32>
    %242 = arith.muli %237, %38 : tensor<32x2x4xi32>
    %243 = "tt.reduce"(%242) <{axis = 1 : i32}> ({
    ^bb0(%arg2: i32, %arg3: i32):
      %1107 = arith.addi %arg2, %arg3 : i32
      tt.reduce.return %1107 : i32
    }) : (tensor<32x2x4xi32>) -> tensor<32x4xi32>
    %244 = tt.expand_dims %243 {axis = 1 : i32} : tensor<32x4xi32> -> tensor<32x1x4xi32>
    %245 = tt.broadcast %244 : tensor<32x1x4xi32> -> tensor<32x2x4xi32>
    %246 = tt.reshape %241 : tensor<32x2x4xi32> -> tensor<4x64xi32>
    %247 = tt.reshape %245 : tensor<32x2x4xi32> -> tensor<4x64xi32>
    %248 = arith.cmpi sgt, %246, %247 : tensor<4x64xi32>
    %249 = arith.extui %248 : tensor<4x64xi1> to tensor<4x64xi32>
    %250 = arith.cmpi ne, %249, %201 : tensor<4x64xi32>
    %251 = arith.xori %246, %247 : tensor<4x64xi32>
    %252 = arith.select %250, %251, %cst : tensor<4x64xi1>, tensor<4x64xi32>
    %253 = arith.xori %236, %252 : tensor<4x64xi32>
    %254 = tt.reshape %253 : tensor<4x64xi32> -> tensor<64x2x2xi32>
    %255 = arith.muli %254, %41 : tensor<64x2x2xi32>
    %256 = "tt.reduce"(%255) <{axis = 1 : i32}> ({
    ^bb0(%arg2: i32, %arg3: i32):
      %1107 = arith.addi %arg2, %arg3 : i32
      tt.reduce.return %1107 : i32
    }) : (tensor<64x2x2xi32>) -> tensor<64x2xi32>
    %257 = tt.expand_dims %256 {axis = 1 : i32} : tensor<64x2xi32> -> tensor<64x1x2xi32>
    %258 = tt.broadcast %257 : tensor<64x1x2xi32> -> tensor<64x2x2xi32>
    %259 = arith.muli %254, %16 : tensor<64x2x2xi32>
    %260 = "tt.reduce"(%259) <{axis = 1 : i32}> ({
    ^bb0(%arg2: i32, %arg3: i32):
      %1107 = arith.addi %arg2, %arg3 : i32
      tt.reduce.return %1107 : i32
    }) : (tensor<64x2x2xi32>) -> tensor<64x2xi32>
    %261 = tt.expand_dims %260 {axis = 1 : i32} : tensor<64x2xi32> -> tensor<64x1x2xi32>
    %262 = tt.broadcast %261 : tensor<64x1x2xi32> -> tensor<64x2x2xi32>
    %263 = tt.reshape %258 : tensor<64x2x2xi32> -> tensor<4x64xi32>
    %264 = tt.reshape %262 : tensor<64x2x2xi32> -> tensor<4x64xi32>
    %265 = arith.cmpi sgt, %263, %264 : tensor<4x64xi32>
    %266 = arith.extui %265 : tensor<4x64xi1> to tensor<4x64xi32>
    %267 = arith.cmpi ne, %266, %201 : tensor<4x64xi32>
    %268 = arith.xori %263, %264 : tensor<4x64xi32>
    %269 = arith.select %267, %268, %cst : tensor<4x64xi1>, tensor<4x64xi32>
    %270 = arith.xori %253, %269 : tensor<4x64xi32>
    %271 = tt.reshape %270 : tensor<4x64xi32> -> tensor<128x2x1xi32>
    %272 = arith.muli %271, %20 : tensor<128x2x1xi32>
    %273 = "tt.reduce"(%272) <{axis = 1 : i32}> ({
    ^bb0(%arg2: i32, %arg3: i32):
      %1107 = arith.addi %arg2, %arg3 : i32
      tt.reduce.return %1107 : i32
    }) : (tensor<128x2x1xi32>) -> tensor<128x1xi32>
    %274 = tt.expand_dims %273 {axis = 1 : i32} : tensor<128x1xi32> -> tensor<128x1x1xi32>
    %275 = tt.broadcast %274 : tensor<128x1x1xi32> -> tensor<128x2x1xi32>
    %276 = arith.muli %271, %25 : tensor<128x2x1xi32>
    %277 = "tt.reduce"(%276) <{axis = 1 : i32}> ({
    ^bb0(%arg2: i32, %arg3: i32):
      %1107 = arith.addi %arg2, %arg3 : i32
      tt.reduce.return %1107 : i32
    }) : (tensor<128x2x1xi32>) -> tensor<128x1xi32>
    %278 = tt.expand_dims %277 {axis = 1 : i32} : tensor<128x1xi32> -> tensor<128x1x1xi32>
    %279 = tt.broadcast %278 : tensor<128x1x1xi32> -> tensor<128x2x1xi32>
    %280 = tt.reshape %275 : tensor<128x2x1xi32> -> tensor<4x64xi32>
    %281 = tt.reshape %279 : tensor<128x2x1xi32> -> tensor<4x64xi32>
    %282 = arith.cmpi sgt, %280, %281 : tensor<4x64xi32>
    %283 = arith.extui %282 : tensor<4x64xi1> to tensor<4x64xi32>
    %284 = arith.cmpi ne, %283, %201 : tensor<4x64xi32>
    %285 = arith.xori %280, %281 : tensor<4x64xi32>
    %286 = arith.select %284, %285, %cst : tensor<4x64xi1>, tensor<4x64xi32>
    %287 = arith.xori %270, %286 : tensor<4x64xi32>
    %288 = tt.reshape %287 : tensor<4x64xi32> -> tensor<4x2x32xi32>
    %289 = tt.broadcast %19 : tensor<1x2x1xi32> -> tensor<4x2x32xi32>
    %290 = arith.muli %288, %289 : tensor<4x2x32xi32>
    %291 = "tt.reduce"(%290) <{axis = 1 : i32}> ({
    ^bb0(%arg2: i32, %arg3: i32):
      %1107 = arith.addi %arg2, %arg3 : i32
      tt.reduce.return %1107 : i32
    }) : (tensor<4x2x32xi32>) -> tensor<4x32xi32>
    %292 = tt.expand_dims %291 {axis = 1 : i32} : tensor<4x32xi32> -> tensor<4x1x32xi32>
    %293 = tt.broadcast %292 : tensor<4x1x32xi32> -> tensor<4x2x32xi32>
    %294 = arith.muli %288, %200 : tensor<4x2x32xi32>
    %295 = "tt.reduce"(%294) <{axis = 1 : i32}> ({
    ^bb0(%arg2: i32, %arg3: i32):
      %1107 = arith.addi %arg2, %arg3 : i32
      tt.reduce.return %1107 : i32
    }) : (tensor<4x2x32xi32>) -> tensor<4x32xi32>
    %296 = tt.expand_dims %295 {axis = 1 : i32} : tensor<4x32xi32> -> tensor<4x1x32xi32>
    %297 = tt.broadcast %296 : tensor<4x1x32xi32> -> tensor<4x2x32xi32>
    %298 = tt.reshape %293 : tensor<4x2x32xi32> -> tensor<4x64xi32>
    %299 = tt.reshape %297 : tensor<4x2x32xi32> -> tensor<4x64xi32>
    %300 = arith.cmpi sgt, %298, %299 : tensor<4x64xi32>
    %301 = arith.extui %300 : tensor<4x64xi1> to tensor<4x64xi32>
    %302 = arith.cmpi ne, %301, %cst : tensor<4x64xi32>
    %303 = arith.xori %298, %299 : tensor<4x64xi32>
    %304 = arith.select %302, %303, %cst : tensor<4x64xi1>, tensor<4x64xi32>
    %305 = arith.xori %287, %304 : tensor<4x64xi32>
    %306 = tt.reshape %305 : tensor<4x64xi32> -> tensor<8x2x16xi32>
    %307 = arith.muli %306, %203 : tensor<8x2x16xi32>
    %308 = "tt.reduce"(%307) <{axis = 1 : i32}> ({
    ^bb0(%arg2: i32, %arg3: i32):
      %1107 = arith.addi %arg2, %arg3 : i32
      tt.reduce.return %1107 : i32
    }) : (tensor<8x2x16xi32>) -> tensor<8x16xi32>
    %309 = tt.expand_dims %308 {axis = 1 : i32} : tensor<8x16xi32> -> tensor<8x1x16xi32>
    %310 = tt.broadcast %309 : tensor<8x1x16xi32> -> tensor<8x2x16xi32>
    %311 = arith.muli %306, %129 : tensor<8x2x16xi32>
    %312 = "tt.reduce"(%311) <{axis = 1 : i32}> ({
    ^bb0(%arg2: i32, %arg3: i32):
      %1107 = arith.addi %arg2, %arg3 : i32
      tt.reduce.return %1107 : i32
    }) : (tensor<8x2x16xi32>) -> tensor<8x16xi32>
    %313 = tt.expand_dims %312 {axis = 1 : i32} : tensor<8x16xi32> -> tensor<8x1x16xi32>
    %314 = tt.broadcast %313 : tensor<8x1x16xi32> -> tensor<8x2x16xi32>
    %315 = tt.reshape %310 : tensor<8x2x16xi32> -> tensor<4x64xi32>
    %316 = tt.reshape %314 : tensor<8x2x16xi32> -> tensor<4x64xi32>
    %317 = arith.cmpi sgt, %315, %316 : tensor<4x64xi32>
    %318 = arith.extui %317 : tensor<4x64xi1> to tensor<4x64xi32>
    %319 = arith.cmpi ne, %318, %cst : tensor<4x64xi32>
    %320 = arith.xori %315, %316 : tensor<4x64xi32>
    %321 = arith.select %319, %320, %cst : tensor<4x64xi1>, tensor<4x64xi32>
    %322 = arith.xori %305, %321 : tensor<4x64xi32>
    %323 = tt.reshape %322 : tensor<4x64xi32> -> tensor<16x2x8xi32>
    %324 = arith.muli %323, %132 : tensor<16x2x8xi32>
    %325 = "tt.reduce"(%324) <{axis = 1 : i32}> ({
    ^bb0(%arg2: i32, %arg3: i32):
      %1107 = arith.addi %arg2, %arg3 : i32
      tt.reduce.return %1107 : i32
    }) : (tensor<16x2x8xi32>) -> tensor<16x8xi32>
    %326 = tt.expand_dims %325 {axis = 1 : i32} : tensor<16x8xi32> -> tensor<16x1x8xi32>
    %327 = tt.broadcast %326 : tensor<16x1x8xi32> -> tensor<16x2x8xi32>
    %328 = arith.muli %323, %75 : tensor<16x2x8xi32>
    %329 = "tt.reduce"(%328) <{axis = 1 : i32}> ({
    ^bb0(%arg2: i32, %arg3: i32):
      %1107 = arith.addi %arg2, %arg3 : i32
      tt.reduce.return %1107 : i32
    }) : (tensor<16x2x8xi32>) -> tensor<16x8xi32>
    %330 = tt.expand_dims %329 {axis = 1 : i32} : tensor<16x8xi32> -> tensor<16x1x8xi32>
    %331 = tt.broadcast %330 : tensor<16x1x8xi32> -> tensor<16x2x8xi32>
    %332 = tt.reshape %327 : tensor<16x2x8xi32> -> tensor<4x64xi32>
    %333 = tt.reshape %331 : tensor<16x2x8xi32> -> tensor<4x64xi32>
    %334 = arith.cmpi sgt, %332, %333 : tensor<4x64xi32>
    %335 = arith.extui %334 : tensor<4x64xi1> to tensor<4x64xi32>
    %336 = arith.cmpi ne, %335, %cst : tensor<4x64xi32>
    %337 = arith.xori %332, %333 : tensor<4x64xi32>
    %338 = arith.select %336, %337, %cst : tensor<4x64xi1>, tensor<4x64xi32>
    %339 = arith.xori %322, %338 : tensor<4x64xi32>
    %340 = tt.reshape %339 : tensor<4x64xi32> -> tensor<32x2x4xi32>
    %341 = arith.muli %340, %78 : tensor<32x2x4xi32>
    %342 = "tt.reduce"(%341) <{axis = 1 : i32}> ({
    ^bb0(%arg2: i32, %arg3: i32):
      %1107 = arith.addi %arg2, %arg3 : i32
      tt.reduce.return %1107 : i32
    }) : (tensor<32x2x4xi32>) -> tensor<32x4xi32>
    %343 = tt.expand_dims %342 {axis = 1 : i32} : tensor<32x4xi32> -> tensor<32x1x4xi32>
    %344 = tt.broadcast %343 : tensor<32x1x4xi32> -> tensor<32x2x4xi32>
    %345 = arith.muli %340, %38 : tensor<32x2x4xi32>
    %346 = "tt.reduce"(%345) <{axis = 1 : i32}> ({
    ^bb0(%arg2: i32, %arg3: i32):
      %1107 = arith.addi %arg2, %arg3 : i32
      tt.reduce.return %1107 : i32
    }) : (tensor<32x2x4xi32>) -> tensor<32x4xi32>
    %347 = tt.expand_dims %346 {axis = 1 : i32} : tensor<32x4xi32> -> tensor<32x1x4xi32>
    %348 = tt.broadcast %347 : tensor<32x1x4xi32> -> tensor<32x2x4xi32>
    %349 = tt.reshape %344 : tensor<32x2x4xi32> -> tensor<4x64xi32>
    %350 = tt.reshape %348 : tensor<32x2x4xi32> -> tensor<4x64xi32>
    %351 = arith.cmpi sgt, %349, %350 : tensor<4x64xi32>
    %352 = arith.extui %351 : tensor<4x64xi1> to tensor<4x64xi32>
    %353 = arith.cmpi ne, %352, %cst : tensor<4x64xi32>
    %354 = arith.xori %349, %350 : tensor<4x64xi32>
    %355 = arith.select %353, %354, %cst : tensor<4x64xi1>, tensor<4x64xi32>
    %356 = arith.xori %339, %355 : tensor<4x64xi32>
    %357 = tt.reshape %356 : tensor<4x64xi32> -> tensor<64x2x2xi32>
    %358 = arith.muli %357, %41 : tensor<64x2x2xi32>
    %359 = "tt.reduce"(%358) <{axis = 1 : i32}> ({
    ^bb0(%arg2: i32, %arg3: i32):
      %1107 = arith.addi %arg2, %arg3 : i32
      tt.reduce.return %1107 : i32
    }) : (tensor<64x2x2xi32>) -> tensor<64x2xi32>
    %360 = tt.expand_dims %359 {axis = 1 : i32} : tensor<64x2xi32> -> tensor<64x1x2xi32>
    %361 = tt.broadcast %360 : tensor<64x1x2xi32> -> tensor<64x2x2xi32>
    %362 = arith.muli %357, %16 : tensor<64x2x2xi32>
    %363 = "tt.reduce"(%362) <{axis = 1 : i32}> ({
    ^bb0(%arg2: i32, %arg3: i32):
      %1107 = arith.addi %arg2, %arg3 : i32
      tt.reduce.return %1107 : i32
    }) : (tensor<64x2x2xi32>) -> tensor<64x2xi32>
    %364 = tt.expand_dims %363 {axis = 1 : i32} : tensor<64x2xi32> -> tensor<64x1x2xi32>
    %365 = tt.broadcast %364 : tensor<64x1x2xi32> -> tensor<64x2x2xi32>
    %366 = tt.reshape %361 : tensor<64x2x2xi32> -> tensor<4x64xi32>
    %367 = tt.reshape %365 : tensor<64x2x2xi32> -> tensor<4x64xi32>
    %368 = arith.cmpi sgt, %366, %367 : tensor<4x64xi32>
    %369 = arith.extui %368 : tensor<4x64xi1> to tensor<4x64xi32>
    %370 = arith.cmpi ne, %369, %cst : tensor<4x64xi32>
    %371 = arith.xori %366, %367 : tensor<4x64xi32>
    %372 = arith.select %370, %371, %cst : tensor<4x64xi1>, tensor<4x64xi32>
    %373 = arith.xori %356, %372 : tensor<4x64xi32>
    %374 = tt.reshape %373 : tensor<4x64xi32> -> tensor<128x2x1xi32>
    %375 = arith.muli %374, %20 : tensor<128x2x1xi32>
    %376 = "tt.reduce"(%375) <{axis = 1 : i32}> ({
    ^bb0(%arg2: i32, %arg3: i32):
      %1107 = arith.addi %arg2, %arg3 : i32
      tt.reduce.return %1107 : i32
    }) : (tensor<128x2x1xi32>) -> tensor<128x1xi32>
    %377 = tt.expand_dims %376 {axis = 1 : i32} : tensor<128x1xi32> -> tensor<128x1x1xi32>
    %378 = tt.broadcast %377 : tensor<128x1x1xi32> -> tensor<128x2x1xi32>
    %379 = arith.muli %374, %25 : tensor<128x2x1xi32>
    %380 = "tt.reduce"(%379) <{axis = 1 : i32}> ({
    ^bb0(%arg2: i32, %arg3: i32):
      %1107 = arith.addi %arg2, %arg3 : i32
      tt.reduce.return %1107 : i32
    }) : (tensor<128x2x1xi32>) -> tensor<128x1xi32>
    %381 = tt.expand_dims %380 {axis = 1 : i32} : tensor<128x1xi32> -> tensor<128x1x1xi32>
    %382 = tt.broadcast %381 : tensor<128x1x1xi32> -> tensor<128x2x1xi32>
    %383 = tt.reshape %378 : tensor<128x2x1xi32> -> tensor<4x64xi32>
    %384 = tt.reshape %382 : tensor<128x2x1xi32> -> tensor<4x64xi32>
    %385 = arith.cmpi sgt, %383, %384 : tensor<4x64xi32>
    %386 = arith.extui %385 : tensor<4x64xi1> to tensor<4x64xi32>
    %387 = arith.cmpi ne, %386, %cst : tensor<4x64xi32>
    %388 = arith.xori %383, %384 : tensor<4x64xi32>
    %389 = arith.select %387, %388, %cst : tensor<4x64xi1>, tensor<4x64xi32>
    %390 = arith.xori %373, %389 : tensor<4x64xi32>
    %391 = arith.andi %390, %cst_2 : tensor<4x64xi32>
    %392 = tt.reshape %391 : tensor<4x64xi32> -> tensor<128x2x1xi32>
    %393 = arith.muli %392, %20 : tensor<128x2x1xi32>
    %394 = "tt.reduce"(%393) <{axis = 1 : i32}> ({
    ^bb0(%arg2: i32, %arg3: i32):
      %1107 = arith.addi %arg2, %arg3 : i32
      tt.reduce.return %1107 : i32
    }) : (tensor<128x2x1xi32>) -> tensor<128x1xi32>
    %395 = tt.expand_dims %394 {axis = 1 : i32} : tensor<128x1xi32> -> tensor<128x1x1xi32>
    %396 = tt.broadcast %395 : tensor<128x1x1xi32> -> tensor<128x2x1xi32>
    %397 = arith.muli %392, %25 : tensor<128x2x1xi32>
    %398 = "tt.reduce"(%397) <{axis = 1 : i32}> ({
    ^bb0(%arg2: i32, %arg3: i32):
      %1107 = arith.addi %arg2, %arg3 : i32
      tt.reduce.return %1107 : i32
    }) : (tensor<128x2x1xi32>) -> tensor<128x1xi32>
    %399 = tt.expand_dims %398 {axis = 1 : i32} : tensor<128x1xi32> -> tensor<128x1x1xi32>
    %400 = tt.broadcast %399 : tensor<128x1x1xi32> -> tensor<128x2x1xi32>
    %401 = tt.reshape %396 : tensor<128x2x1xi32> -> tensor<4x64xi32>
    %402 = tt.reshape %400 : tensor<128x2x1xi32> -> tensor<4x64xi32>
    %403 = arith.cmpi sgt, %401, %402 : tensor<4x64xi32>
    %404 = arith.extui %403 : tensor<4x64xi1> to tensor<4x64xi32>
    %405 = arith.cmpi ne, %404, %17 : tensor<4x64xi32>
    %406 = arith.xori %401, %402 : tensor<4x64xi32>
    %407 = arith.select %405, %406, %cst : tensor<4x64xi1>, tensor<4x64xi32>
    %408 = arith.xori %391, %407 : tensor<4x64xi32>
    %409 = tt.reshape %408 : tensor<4x64xi32> -> tensor<64x2x2xi32>
    %410 = arith.muli %409, %41 : tensor<64x2x2xi32>
    %411 = "tt.reduce"(%410) <{axis = 1 : i32}> ({
    ^bb0(%arg2: i32, %arg3: i32):
      %1107 = arith.addi %arg2, %arg3 : i32
      tt.reduce.return %1107 : i32
    }) : (tensor<64x2x2xi32>) -> tensor<64x2xi32>
    %412 = tt.expand_dims %411 {axis = 1 : i32} : tensor<64x2xi32> -> tensor<64x1x2xi32>
    %413 = tt.broadcast %412 : tensor<64x1x2xi32> -> tensor<64x2x2xi32>
    %414 = arith.muli %409, %16 : tensor<64x2x2xi32>
    %415 = "tt.reduce"(%414) <{axis = 1 : i32}> ({
    ^bb0(%arg2: i32, %arg3: i32):
      %1107 = arith.addi %arg2, %arg3 : i32
      tt.reduce.return %1107 : i32
    }) : (tensor<64x2x2xi32>) -> tensor<64x2xi32>
    %416 = tt.expand_dims %415 {axis = 1 : i32} : tensor<64x2xi32> -> tensor<64x1x2xi32>
    %417 = tt.broadcast %416 : tensor<64x1x2xi32> -> tensor<64x2x2xi32>
    %418 = tt.reshape %413 : tensor<64x2x2xi32> -> tensor<4x64xi32>
    %419 = tt.reshape %417 : tensor<64x2x2xi32> -> tensor<4x64xi32>
    %420 = arith.cmpi sgt, %418, %419 : tensor<4x64xi32>
    %421 = arith.extui %420 : tensor<4x64xi1> to tensor<4x64xi32>
    %422 = arith.cmpi ne, %421, %39 : tensor<4x64xi32>
    %423 = arith.xori %418, %419 : tensor<4x64xi32>
    %424 = arith.select %422, %423, %cst : tensor<4x64xi1>, tensor<4x64xi32>
    %425 = arith.xori %408, %424 : tensor<4x64xi32>
    %426 = tt.reshape %425 : tensor<4x64xi32> -> tensor<128x2x1xi32>
    %427 = arith.muli %426, %20 : tensor<128x2x1xi32>
    %428 = "tt.reduce"(%427) <{axis = 1 : i32}> ({
    ^bb0(%arg2: i32, %arg3: i32):
      %1107 = arith.addi %arg2, %arg3 : i32
      tt.reduce.return %1107 : i32
    }) : (tensor<128x2x1xi32>) -> tensor<128x1xi32>
    %429 = tt.expand_dims %428 {axis = 1 : i32} : tensor<128x1xi32> -> tensor<128x1x1xi32>
    %430 = tt.broadcast %429 : tensor<128x1x1xi32> -> tensor<128x2x1xi32>
    %431 = arith.muli %426, %25 : tensor<128x2x1xi32>
    %432 = "tt.reduce"(%431) <{axis = 1 : i32}> ({
    ^bb0(%arg2: i32, %arg3: i32):
      %1107 = arith.addi %arg2, %arg3 : i32
      tt.reduce.return %1107 : i32
    }) : (tensor<128x2x1xi32>) -> tensor<128x1xi32>
    %433 = tt.expand_dims %432 {axis = 1 : i32} : tensor<128x1xi32> -> tensor<128x1x1xi32>
    %434 = tt.broadcast %433 : tensor<128x1x1xi32> -> tensor<128x2x1xi32>
    %435 = tt.reshape %430 : tensor<128x2x1xi32> -> tensor<4x64xi32>
    %436 = tt.reshape %434 : tensor<128x2x1xi32> -> tensor<4x64xi32>
    %437 = arith.cmpi sgt, %435, %436 : tensor<4x64xi32>
    %438 = arith.extui %437 : tensor<4x64xi1> to tensor<4x64xi32>
    %439 = arith.cmpi ne, %438, %39 : tensor<4x64xi32>
    %440 = arith.xori %435, %436 : tensor<4x64xi32>
    %441 = arith.select %439, %440, %cst : tensor<4x64xi1>, tensor<4x64xi32>
    %442 = arith.xori %425, %441 : tensor<4x64xi32>
    %443 = tt.reshape %442 : tensor<4x64xi32> -> tensor<32x2x4xi32>
    %444 = arith.muli %443, %78 : tensor<32x2x4xi32>
    %445 = "tt.reduce"(%444) <{axis = 1 : i32}> ({
    ^bb0(%arg2: i32, %arg3: i32):
      %1107 = arith.addi %arg2, %arg3 : i32
      tt.reduce.return %1107 : i32
    }) : (tensor<32x2x4xi32>) -> tensor<32x4xi32>
    %446 = tt.expand_dims %445 {axis = 1 : i32} : tensor<32x4xi32> -> tensor<32x1x4xi32>
    %447 = tt.broadcast %446 : tensor<32x1x4xi32> -> tensor<32x2x4xi32>
    %448 = arith.muli %443, %38 : tensor<32x2x4xi32>
    %449 = "tt.reduce"(%448) <{axis = 1 : i32}> ({
    ^bb0(%arg2: i32, %arg3: i32):
      %1107 = arith.addi %arg2, %arg3 : i32
      tt.reduce.return %1107 : i32
    }) : (tensor<32x2x4xi32>) -> tensor<32x4xi32>
    %450 = tt.expand_dims %449 {axis = 1 : i32} : tensor<32x4xi32> -> tensor<32x1x4xi32>
    %451 = tt.broadcast %450 : tensor<32x1x4xi32> -> tensor<32x2x4xi32>
    %452 = tt.reshape %447 : tensor<32x2x4xi32> -> tensor<4x64xi32>
    %453 = tt.reshape %451 : tensor<32x2x4xi32> -> tensor<4x64xi32>
    %454 = arith.cmpi sgt, %452, %453 : tensor<4x64xi32>
    %455 = arith.extui %454 : tensor<4x64xi1> to tensor<4x64xi32>
    %456 = arith.cmpi ne, %455, %76 : tensor<4x64xi32>
    %457 = arith.xori %452, %453 : tensor<4x64xi32>
    %458 = arith.select %456, %457, %cst : tensor<4x64xi1>, tensor<4x64xi32>
    %459 = arith.xori %442, %458 : tensor<4x64xi32>
    %460 = tt.reshape %459 : tensor<4x64xi32> -> tensor<64x2x2xi32>
    %461 = arith.muli %460, %41 : tensor<64x2x2xi32>
    %462 = "tt.reduce"(%461) <{axis = 1 : i32}> ({
    ^bb0(%arg2: i32, %arg3: i32):
      %1107 = arith.addi %arg2, %arg3 : i32
      tt.reduce.return %1107 : i32
    }) : (tensor<64x2x2xi32>) -> tensor<64x2xi32>
    %463 = tt.expand_dims %462 {axis = 1 : i32} : tensor<64x2xi32> -> tensor<64x1x2xi32>
    %464 = tt.broadcast %463 : tensor<64x1x2xi32> -> tensor<64x2x2xi32>
    %465 = arith.muli %460, %16 : tensor<64x2x2xi32>
    %466 = "tt.reduce"(%465) <{axis = 1 : i32}> ({
    ^bb0(%arg2: i32, %arg3: i32):
      %1107 = arith.addi %arg2, %arg3 : i32
      tt.reduce.return %1107 : i32
    }) : (tensor<64x2x2xi32>) -> tensor<64x2xi32>
    %467 = tt.expand_dims %466 {axis = 1 : i32} : tensor<64x2xi32> -> tensor<64x1x2xi32>
    %468 = tt.broadcast %467 : tensor<64x1x2xi32> -> tensor<64x2x2xi32>
    %469 = tt.reshape %464 : tensor<64x2x2xi32> -> tensor<4x64xi32>
    %470 = tt.reshape %468 : tensor<64x2x2xi32> -> tensor<4x64xi32>
    %471 = arith.cmpi sgt, %469, %470 : tensor<4x64xi32>
    %472 = arith.extui %471 : tensor<4x64xi1> to tensor<4x64xi32>
    %473 = arith.cmpi ne, %472, %76 : tensor<4x64xi32>
    %474 = arith.xori %469, %470 : tensor<4x64xi32>
    %475 = arith.select %473, %474, %cst : tensor<4x64xi1>, tensor<4x64xi32>
    %476 = arith.xori %459, %475 : tensor<4x64xi32>
    %477 = tt.reshape %476 : tensor<4x64xi32> -> tensor<128x2x1xi32>
    %478 = arith.muli %477, %20 : tensor<128x2x1xi32>
    %479 = "tt.reduce"(%478) <{axis = 1 : i32}> ({
    ^bb0(%arg2: i32, %arg3: i32):
      %1107 = arith.addi %arg2, %arg3 : i32
      tt.reduce.return %1107 : i32
    }) : (tensor<128x2x1xi32>) -> tensor<128x1xi32>
    %480 = tt.expand_dims %479 {axis = 1 : i32} : tensor<128x1xi32> -> tensor<128x1x1xi32>
    %481 = tt.broadcast %480 : tensor<128x1x1xi32> -> tensor<128x2x1xi32>
    %482 = arith.muli %477, %25 : tensor<128x2x1xi32>
    %483 = "tt.reduce"(%482) <{axis = 1 : i32}> ({
    ^bb0(%arg2: i32, %arg3: i32):
      %1107 = arith.addi %arg2, %arg3 : i32
      tt.reduce.return %1107 : i32
    }) : (tensor<128x2x1xi32>) -> tensor<128x1xi32>
    %484 = tt.expand_dims %483 {axis = 1 : i32} : tensor<128x1xi32> -> tensor<128x1x1xi32>
    %485 = tt.broadcast %484 : tensor<128x1x1xi32> -> tensor<128x2x1xi32>
    %486 = tt.reshape %481 : tensor<128x2x1xi32> -> tensor<4x64xi32>
    %487 = tt.reshape %485 : tensor<128x2x1xi32> -> tensor<4x64xi32>
    %488 = arith.cmpi sgt, %486, %487 : tensor<4x64xi32>
    %489 = arith.extui %488 : tensor<4x64xi1> to tensor<4x64xi32>
    %490 = arith.cmpi ne, %489, %76 : tensor<4x64xi32>
    %491 = arith.xori %486, %487 : tensor<4x64xi32>
    %492 = arith.select %490, %491, %cst : tensor<4x64xi1>, tensor<4x64xi32>
    %493 = arith.xori %476, %492 : tensor<4x64xi32>
    %494 = tt.reshape %493 : tensor<4x64xi32> -> tensor<16x2x8xi32>
    %495 = arith.muli %494, %132 : tensor<16x2x8xi32>
    %496 = "tt.reduce"(%495) <{axis = 1 : i32}> ({
    ^bb0(%arg2: i32, %arg3: i32):
      %1107 = arith.addi %arg2, %arg3 : i32
      tt.reduce.return %1107 : i32
    }) : (tensor<16x2x8xi32>) -> tensor<16x8xi32>
    %497 = tt.expand_dims %496 {axis = 1 : i32} : tensor<16x8xi32> -> tensor<16x1x8xi32>
    %498 = tt.broadcast %497 : tensor<16x1x8xi32> -> tensor<16x2x8xi32>
    %499 = arith.muli %494, %75 : tensor<16x2x8xi32>
    %500 = "tt.reduce"(%499) <{axis = 1 : i32}> ({
    ^bb0(%arg2: i32, %arg3: i32):
      %1107 = arith.addi %arg2, %arg3 : i32
      tt.reduce.return %1107 : i32
    }) : (tensor<16x2x8xi32>) -> tensor<16x8xi32>
    %501 = tt.expand_dims %500 {axis = 1 : i32} : tensor<16x8xi32> -> tensor<16x1x8xi32>
    %502 = tt.broadcast %501 : tensor<16x1x8xi32> -> tensor<16x2x8xi32>
    %503 = tt.reshape %498 : tensor<16x2x8xi32> -> tensor<4x64xi32>
    %504 = tt.reshape %502 : tensor<16x2x8xi32> -> tensor<4x64xi32>
    %505 = arith.cmpi sgt, %503, %504 : tensor<4x64xi32>
    %506 = arith.extui %505 : tensor<4x64xi1> to tensor<4x64xi32>
    %507 = arith.cmpi ne, %506, %130 : tensor<4x64xi32>
    %508 = arith.xori %503, %504 : tensor<4x64xi32>
    %509 = arith.select %507, %508, %cst : tensor<4x64xi1>, tensor<4x64xi32>
    %510 = arith.xori %493, %509 : tensor<4x64xi32>
    %511 = tt.reshape %510 : tensor<4x64xi32> -> tensor<32x2x4xi32>
    %512 = arith.muli %511, %78 : tensor<32x2x4xi32>
    %513 = "tt.reduce"(%512) <{axis = 1 : i32}> ({
    ^bb0(%arg2: i32, %arg3: i32):
      %1107 = arith.addi %arg2, %arg3 : i32
      tt.reduce.return %1107 : i32
    }) : (tensor<32x2x4xi32>) -> tensor<32x4xi32>
    %514 = tt.expand_dims %513 {axis = 1 : i32} : tensor<32x4xi32> -> tensor<32x1x4xi32>
    %515 = tt.broadcast %514 : tensor<32x1x4xi32> -> tensor<32x2x4xi32>
    %516 = arith.muli %511, %38 : tensor<32x2x4xi32>
    %517 = "tt.reduce"(%516) <{axis = 1 : i32}> ({
    ^bb0(%arg2: i32, %arg3: i32):
      %1107 = arith.addi %arg2, %arg3 : i32
      tt.reduce.return %1107 : i32
    }) : (tensor<32x2x4xi32>) -> tensor<32x4xi32>
    %518 = tt.expand_dims %517 {axis = 1 : i32} : tensor<32x4xi32> -> tensor<32x1x4xi32>
    %519 = tt.broadcast %518 : tensor<32x1x4xi32> -> tensor<32x2x4xi32>
    %520 = tt.reshape %515 : tensor<32x2x4xi32> -> tensor<4x64xi32>
    %521 = tt.reshape %519 : tensor<32x2x4xi32> -> tensor<4x64xi32>
    %522 = arith.cmpi sgt, %520, %521 : tensor<4x64xi32>
    %523 = arith.extui %522 : tensor<4x64xi1> to tensor<4x64xi32>
    %524 = arith.cmpi ne, %523, %130 : tensor<4x64xi32>
    %525 = arith.xori %520, %521 : tensor<4x64xi32>
    %526 = arith.select %524, %525, %cst : tensor<4x64xi1>, tensor<4x64xi32>
    %527 = arith.xori %510, %526 : tensor<4x64xi32>
    %528 = tt.reshape %527 : tensor<4x64xi32> -> tensor<64x2x2xi32>
    %529 = arith.muli %528, %41 : tensor<64x2x2xi32>
    %530 = "tt.reduce"(%529) <{axis = 1 : i32}> ({
    ^bb0(%arg2: i32, %arg3: i32):
      %1107 = arith.addi %arg2, %arg3 : i32
      tt.reduce.return %1107 : i32
    }) : (tensor<64x2x2xi32>) -> tensor<64x2xi32>
    %531 = tt.expand_dims %530 {axis = 1 : i32} : tensor<64x2xi32> -> tensor<64x1x2xi32>
    %532 = tt.broadcast %531 : tensor<64x1x2xi32> -> tensor<64x2x2xi32>
    %533 = arith.muli %528, %16 : tensor<64x2x2xi32>
    %534 = "tt.reduce"(%533) <{axis = 1 : i32}> ({
    ^bb0(%arg2: i32, %arg3: i32):
      %1107 = arith.addi %arg2, %arg3 : i32
      tt.reduce.return %1107 : i32
    }) : (tensor<64x2x2xi32>) -> tensor<64x2xi32>
    %535 = tt.expand_dims %534 {axis = 1 : i32} : tensor<64x2xi32> -> tensor<64x1x2xi32>
    %536 = tt.broadcast %535 : tensor<64x1x2xi32> -> tensor<64x2x2xi32>
    %537 = tt.reshape %532 : tensor<64x2x2xi32> -> tensor<4x64xi32>
    %538 = tt.reshape %536 : tensor<64x2x2xi32> -> tensor<4x64xi32>
    %539 = arith.cmpi sgt, %537, %538 : tensor<4x64xi32>
    %540 = arith.extui %539 : tensor<4x64xi1> to tensor<4x64xi32>
    %541 = arith.cmpi ne, %540, %130 : tensor<4x64xi32>
    %542 = arith.xori %537, %538 : tensor<4x64xi32>
    %543 = arith.select %541, %542, %cst : tensor<4x64xi1>, tensor<4x64xi32>
    %544 = arith.xori %527, %543 : tensor<4x64xi32>
    %545 = tt.reshape %544 : tensor<4x64xi32> -> tensor<128x2x1xi32>
    %546 = arith.muli %545, %20 : tensor<128x2x1xi32>
    %547 = "tt.reduce"(%546) <{axis = 1 : i32}> ({
    ^bb0(%arg2: i32, %arg3: i32):
      %1107 = arith.addi %arg2, %arg3 : i32
      tt.reduce.return %1107 : i32
    }) : (tensor<128x2x1xi32>) -> tensor<128x1xi32>
    %548 = tt.expand_dims %547 {axis = 1 : i32} : tensor<128x1xi32> -> tensor<128x1x1xi32>
    %549 = tt.broadcast %548 : tensor<128x1x1xi32> -> tensor<128x2x1xi32>
    %550 = arith.muli %545, %25 : tensor<128x2x1xi32>
    %551 = "tt.reduce"(%550) <{axis = 1 : i32}> ({
    ^bb0(%arg2: i32, %arg3: i32):
      %1107 = arith.addi %arg2, %arg3 : i32
      tt.reduce.return %1107 : i32
    }) : (tensor<128x2x1xi32>) -> tensor<128x1xi32>
    %552 = tt.expand_dims %551 {axis = 1 : i32} : tensor<128x1xi32> -> tensor<128x1x1xi32>
    %553 = tt.broadcast %552 : tensor<128x1x1xi32> -> tensor<128x2x1xi32>
    %554 = tt.reshape %549 : tensor<128x2x1xi32> -> tensor<4x64xi32>
    %555 = tt.reshape %553 : tensor<128x2x1xi32> -> tensor<4x64xi32>
    %556 = arith.cmpi sgt, %554, %555 : tensor<4x64xi32>
    %557 = arith.extui %556 : tensor<4x64xi1> to tensor<4x64xi32>
    %558 = arith.cmpi ne, %557, %130 : tensor<4x64xi32>
    %559 = arith.xori %554, %555 : tensor<4x64xi32>
    %560 = arith.select %558, %559, %cst : tensor<4x64xi1>, tensor<4x64xi32>
    %561 = arith.xori %544, %560 : tensor<4x64xi32>
    %562 = tt.reshape %561 : tensor<4x64xi32> -> tensor<8x2x16xi32>
    %563 = arith.muli %562, %203 : tensor<8x2x16xi32>
    %564 = "tt.reduce"(%563) <{axis = 1 : i32}> ({
    ^bb0(%arg2: i32, %arg3: i32):
      %1107 = arith.addi %arg2, %arg3 : i32
      tt.reduce.return %1107 : i32
    }) : (tensor<8x2x16xi32>) -> tensor<8x16xi32>
    %565 = tt.expand_dims %564 {axis = 1 : i32} : tensor<8x16xi32> -> tensor<8x1x16xi32>
    %566 = tt.broadcast %565 : tensor<8x1x16xi32> -> tensor<8x2x16xi32>
    %567 = arith.muli %562, %129 : tensor<8x2x16xi32>
    %568 = "tt.reduce"(%567) <{axis = 1 : i32}> ({
    ^bb0(%arg2: i32, %arg3: i32):
      %1107 = arith.addi %arg2, %arg3 : i32
      tt.reduce.return %1107 : i32
    }) : (tensor<8x2x16xi32>) -> tensor<8x16xi32>
    %569 = tt.expand_dims %568 {axis = 1 : i32} : tensor<8x16xi32> -> tensor<8x1x16xi32>
    %570 = tt.broadcast %569 : tensor<8x1x16xi32> -> tensor<8x2x16xi32>
    %571 = tt.reshape %566 : tensor<8x2x16xi32> -> tensor<4x64xi32>
    %572 = tt.reshape %570 : tensor<8x2x16xi32> -> tensor<4x64xi32>
    %573 = arith.cmpi sgt, %571, %572 : tensor<4x64xi32>
    %574 = arith.extui %573 : tensor<4x64xi1> to tensor<4x64xi32>
    %575 = arith.cmpi ne, %574, %201 : tensor<4x64xi32>
    %576 = arith.xori %571, %572 : tensor<4x64xi32>
    %577 = arith.select %575, %576, %cst : tensor<4x64xi1>, tensor<4x64xi32>
    %578 = arith.xori %561, %577 : tensor<4x64xi32>
    %579 = tt.reshape %578 : tensor<4x64xi32> -> tensor<16x2x8xi32>
    %580 = arith.muli %579, %132 : tensor<16x2x8xi32>
    %581 = "tt.reduce"(%580) <{axis = 1 : i32}> ({
    ^bb0(%arg2: i32, %arg3: i32):
      %1107 = arith.addi %arg2, %arg3 : i32
      tt.reduce.return %1107 : i32
    }) : (tensor<16x2x8xi32>) -> tensor<16x8xi32>
    %582 = tt.expand_dims %581 {axis = 1 : i32} : tensor<16x8xi32> -> tensor<16x1x8xi32>
    %583 = tt.broadcast %582 : tensor<16x1x8xi32> -> tensor<16x2x8xi32>
    %584 = arith.muli %579, %75 : tensor<16x2x8xi32>
    %585 = "tt.reduce"(%584) <{axis = 1 : i32}> ({
    ^bb0(%arg2: i32, %arg3: i32):
      %1107 = arith.addi %arg2, %arg3 : i32
      tt.reduce.return %1107 : i32
    }) : (tensor<16x2x8xi32>) -> tensor<16x8xi32>
    %586 = tt.expand_dims %585 {axis = 1 : i32} : tensor<16x8xi32> -> tensor<16x1x8xi32>
    %587 = tt.broadcast %586 : tensor<16x1x8xi32> -> tensor<16x2x8xi32>
    %588 = tt.reshape %583 : tensor<16x2x8xi32> -> tensor<4x64xi32>
    %589 = tt.reshape %587 : tensor<16x2x8xi32> -> tensor<4x64xi32>
    %590 = arith.cmpi sgt, %588, %589 : tensor<4x64xi32>
    %591 = arith.extui %590 : tensor<4x64xi1> to tensor<4x64xi32>
    %592 = arith.cmpi ne, %591, %201 : tensor<4x64xi32>
    %593 = arith.xori %588, %589 : tensor<4x64xi32>
    %594 = arith.select %592, %593, %cst : tensor<4x64xi1>, tensor<4x64xi32>
    %595 = arith.xori %578, %594 : tensor<4x64xi32>
    %596 = tt.reshape %595 : tensor<4x64xi32> -> tensor<32x2x4xi32>
    %597 = arith.muli %596, %78 : tensor<32x2x4xi32>
    %598 = "tt.reduce"(%597) <{axis = 1 : i32}> ({
    ^bb0(%arg2: i32, %arg3: i32):
      %1107 = arith.addi %arg2, %arg3 : i32
      tt.reduce.return %1107 : i32
    }) : (tensor<32x2x4xi32>) -> tensor<32x4xi32>
    %599 = tt.expand_dims %598 {axis = 1 : i32} : tensor<32x4xi32> -> tensor<32x1x4xi32>
    %600 = tt.broadcast %599 : tensor<32x1x4xi32> -> tensor<32x2x4xi32>
    %601 = arith.muli %596, %38 : tensor<32x2x4xi32>
    %602 = "tt.reduce"(%601) <{axis = 1 : i32}> ({
    ^bb0(%arg2: i32, %arg3: i32):
      %1107 = arith.addi %arg2, %arg3 : i32
      tt.reduce.return %1107 : i32
    }) : (tensor<32x2x4xi32>) -> tensor<32x4xi32>
    %603 = tt.expand_dims %602 {axis = 1 : i32} : tensor<32x4xi32> -> tensor<32x1x4xi32>
    %604 = tt.broadcast %603 : tensor<32x1x4xi32> -> tensor<32x2x4xi32>
    %605 = tt.reshape %600 : tensor<32x2x4xi32> -> tensor<4x64xi32>
    %606 = tt.reshape %604 : tensor<32x2x4xi32> -> tensor<4x64xi32>
    %607 = arith.cmpi sgt, %605, %606 : tensor<4x64xi32>
    %608 = arith.extui %607 : tensor<4x64xi1> to tensor<4x64xi32>
    %609 = arith.cmpi ne, %608, %201 : tensor<4x64xi32>
    %610 = arith.xori %605, %606 : tensor<4x64xi32>
    %611 = arith.select %609, %610, %cst : tensor<4x64xi1>, tensor<4x64xi32>
    %612 = arith.xori %595, %611 : tensor<4x64xi32>
    %613 = tt.reshape %612 : tensor<4x64xi32> -> tensor<64x2x2xi32>
    %614 = arith.muli %613, %41 : tensor<64x2x2xi32>
    %615 = "tt.reduce"(%614) <{axis = 1 : i32}> ({
    ^bb0(%arg2: i32, %arg3: i32):
      %1107 = arith.addi %arg2, %arg3 : i32
      tt.reduce.return %1107 : i32
    }) : (tensor<64x2x2xi32>) -> tensor<64x2xi32>
    %616 = tt.expand_dims %615 {axis = 1 : i32} : tensor<64x2xi32> -> tensor<64x1x2xi32>
    %617 = tt.broadcast %616 : tensor<64x1x2xi32> -> tensor<64x2x2xi32>
    %618 = arith.muli %613, %16 : tensor<64x2x2xi32>
    %619 = "tt.reduce"(%618) <{axis = 1 : i32}> ({
    ^bb0(%arg2: i32, %arg3: i32):
      %1107 = arith.addi %arg2, %arg3 : i32
      tt.reduce.return %1107 : i32
    }) : (tensor<64x2x2xi32>) -> tensor<64x2xi32>
    %620 = tt.expand_dims %619 {axis = 1 : i32} : tensor<64x2xi32> -> tensor<64x1x2xi32>
    %621 = tt.broadcast %620 : tensor<64x1x2xi32> -> tensor<64x2x2xi32>
    %622 = tt.reshape %617 : tensor<64x2x2xi32> -> tensor<4x64xi32>
    %623 = tt.reshape %621 : tensor<64x2x2xi32> -> tensor<4x64xi32>
    %624 = arith.cmpi sgt, %622, %623 : tensor<4x64xi32>
    %625 = arith.extui %624 : tensor<4x64xi1> to tensor<4x64xi32>
    %626 = arith.cmpi ne, %625, %201 : tensor<4x64xi32>
    %627 = arith.xori %622, %623 : tensor<4x64xi32>
    %628 = arith.select %626, %627, %cst : tensor<4x64xi1>, tensor<4x64xi32>
    %629 = arith.xori %612, %628 : tensor<4x64xi32>
    %630 = tt.reshape %629 : tensor<4x64xi32> -> tensor<128x2x1xi32>
    %631 = arith.muli %630, %20 : tensor<128x2x1xi32>
    %632 = "tt.reduce"(%631) <{axis = 1 : i32}> ({
    ^bb0(%arg2: i32, %arg3: i32):
      %1107 = arith.addi %arg2, %arg3 : i32
      tt.reduce.return %1107 : i32
    }) : (tensor<128x2x1xi32>) -> tensor<128x1xi32>
    %633 = tt.expand_dims %632 {axis = 1 : i32} : tensor<128x1xi32> -> tensor<128x1x1xi32>
    %634 = tt.broadcast %633 : tensor<128x1x1xi32> -> tensor<128x2x1xi32>
    %635 = arith.muli %630, %25 : tensor<128x2x1xi32>
    %636 = "tt.reduce"(%635) <{axis = 1 : i32}> ({
    ^bb0(%arg2: i32, %arg3: i32):
      %1107 = arith.addi %arg2, %arg3 : i32
      tt.reduce.return %1107 : i32
    }) : (tensor<128x2x1xi32>) -> tensor<128x1xi32>
    %637 = tt.expand_dims %636 {axis = 1 : i32} : tensor<128x1xi32> -> tensor<128x1x1xi32>
    %638 = tt.broadcast %637 : tensor<128x1x1xi32> -> tensor<128x2x1xi32>
    %639 = tt.reshape %634 : tensor<128x2x1xi32> -> tensor<4x64xi32>
    %640 = tt.reshape %638 : tensor<128x2x1xi32> -> tensor<4x64xi32>
    %641 = arith.cmpi sgt, %639, %640 : tensor<4x64xi32>
    %642 = arith.extui %641 : tensor<4x64xi1> to tensor<4x64xi32>
    %643 = arith.cmpi ne, %642, %201 : tensor<4x64xi32>
    %644 = arith.xori %639, %640 : tensor<4x64xi32>
    %645 = arith.select %643, %644, %cst : tensor<4x64xi1>, tensor<4x64xi32>
    %646 = arith.xori %629, %645 : tensor<4x64xi32>
    %647 = tt.reshape %646 : tensor<4x64xi32> -> tensor<4x2x32xi32>
    %648 = arith.muli %647, %289 : tensor<4x2x32xi32>
    %649 = "tt.reduce"(%648) <{axis = 1 : i32}> ({
    ^bb0(%arg2: i32, %arg3: i32):
      %1107 = arith.addi %arg2, %arg3 : i32
      tt.reduce.return %1107 : i32
    }) : (tensor<4x2x32xi32>) -> tensor<4x32xi32>
    %650 = tt.expand_dims %649 {axis = 1 : i32} : tensor<4x32xi32> -> tensor<4x1x32xi32>
    %651 = tt.broadcast %650 : tensor<4x1x32xi32> -> tensor<4x2x32xi32>
    %652 = arith.muli %647, %200 : tensor<4x2x32xi32>
    %653 = "tt.reduce"(%652) <{axis = 1 : i32}> ({
    ^bb0(%arg2: i32, %arg3: i32):
      %1107 = arith.addi %arg2, %arg3 : i32
      tt.reduce.return %1107 : i32
    }) : (tensor<4x2x32xi32>) -> tensor<4x32xi32>
    %654 = tt.expand_dims %653 {axis = 1 : i32} : tensor<4x32xi32> -> tensor<4x1x32xi32>
    %655 = tt.broadcast %654 : tensor<4x1x32xi32> -> tensor<4x2x32xi32>
    %656 = tt.reshape %651 : tensor<4x2x32xi32> -> tensor<4x64xi32>
    %657 = tt.reshape %655 : tensor<4x2x32xi32> -> tensor<4x64xi32>
    %658 = arith.cmpi sgt, %656, %657 : tensor<4x64xi32>
    %659 = arith.extui %658 : tensor<4x64xi1> to tensor<4x64xi32>
    %660 = arith.cmpi ne, %659, %cst : tensor<4x64xi32>
    %661 = arith.xori %656, %657 : tensor<4x64xi32>
    %662 = arith.select %660, %661, %cst : tensor<4x64xi1>, tensor<4x64xi32>
    %663 = arith.xori %646, %662 : tensor<4x64xi32>
    %664 = tt.reshape %663 : tensor<4x64xi32> -> tensor<8x2x16xi32>
    %665 = arith.muli %664, %203 : tensor<8x2x16xi32>
    %666 = "tt.reduce"(%665) <{axis = 1 : i32}> ({
    ^bb0(%arg2: i32, %arg3: i32):
      %1107 = arith.addi %arg2, %arg3 : i32
      tt.reduce.return %1107 : i32
    }) : (tensor<8x2x16xi32>) -> tensor<8x16xi32>
    %667 = tt.expand_dims %666 {axis = 1 : i32} : tensor<8x16xi32> -> tensor<8x1x16xi32>
    %668 = tt.broadcast %667 : tensor<8x1x16xi32> -> tensor<8x2x16xi32>
    %669 = arith.muli %664, %129 : tensor<8x2x16xi32>
    %670 = "tt.reduce"(%669) <{axis = 1 : i32}> ({
    ^bb0(%arg2: i32, %arg3: i32):
      %1107 = arith.addi %arg2, %arg3 : i32
      tt.reduce.return %1107 : i32
    }) : (tensor<8x2x16xi32>) -> tensor<8x16xi32>
    %671 = tt.expand_dims %670 {axis = 1 : i32} : tensor<8x16xi32> -> tensor<8x1x16xi32>
    %672 = tt.broadcast %671 : tensor<8x1x16xi32> -> tensor<8x2x16xi32>
    %673 = tt.reshape %668 : tensor<8x2x16xi32> -> tensor<4x64xi32>
    %674 = tt.reshape %672 : tensor<8x2x16xi32> -> tensor<4x64xi32>
    %675 = arith.cmpi sgt, %673, %674 : tensor<4x64xi32>
    %676 = arith.extui %675 : tensor<4x64xi1> to tensor<4x64xi32>
    %677 = arith.cmpi ne, %676, %cst : tensor<4x64xi32>
    %678 = arith.xori %673, %674 : tensor<4x64xi32>
    %679 = arith.select %677, %678, %cst : tensor<4x64xi1>, tensor<4x64xi32>
    %680 = arith.xori %663, %679 : tensor<4x64xi32>
    %681 = tt.reshape %680 : tensor<4x64xi32> -> tensor<16x2x8xi32>
    %682 = arith.muli %681, %132 : tensor<16x2x8xi32>
    %683 = "tt.reduce"(%682) <{axis = 1 : i32}> ({
    ^bb0(%arg2: i32, %arg3: i32):
      %1107 = arith.addi %arg2, %arg3 : i32
      tt.reduce.return %1107 : i32
    }) : (tensor<16x2x8xi32>) -> tensor<16x8xi32>
    %684 = tt.expand_dims %683 {axis = 1 : i32} : tensor<16x8xi32> -> tensor<16x1x8xi32>
    %685 = tt.broadcast %684 : tensor<16x1x8xi32> -> tensor<16x2x8xi32>
    %686 = arith.muli %681, %75 : tensor<16x2x8xi32>
    %687 = "tt.reduce"(%686) <{axis = 1 : i32}> ({
    ^bb0(%arg2: i32, %arg3: i32):
      %1107 = arith.addi %arg2, %arg3 : i32
      tt.reduce.return %1107 : i32
    }) : (tensor<16x2x8xi32>) -> tensor<16x8xi32>
    %688 = tt.expand_dims %687 {axis = 1 : i32} : tensor<16x8xi32> -> tensor<16x1x8xi32>
    %689 = tt.broadcast %688 : tensor<16x1x8xi32> -> tensor<16x2x8xi32>
    %690 = tt.reshape %685 : tensor<16x2x8xi32> -> tensor<4x64xi32>
    %691 = tt.reshape %689 : tensor<16x2x8xi32> -> tensor<4x64xi32>
    %692 = arith.cmpi sgt, %690, %691 : tensor<4x64xi32>
    %693 = arith.extui %692 : tensor<4x64xi1> to tensor<4x64xi32>
    %694 = arith.cmpi ne, %693, %cst : tensor<4x64xi32>
    %695 = arith.xori %690, %691 : tensor<4x64xi32>
    %696 = arith.select %694, %695, %cst : tensor<4x64xi1>, tensor<4x64xi32>
    %697 = arith.xori %680, %696 : tensor<4x64xi32>
    %698 = tt.reshape %697 : tensor<4x64xi32> -> tensor<32x2x4xi32>
    %699 = arith.muli %698, %78 : tensor<32x2x4xi32>
    %700 = "tt.reduce"(%699) <{axis = 1 : i32}> ({
    ^bb0(%arg2: i32, %arg3: i32):
      %1107 = arith.addi %arg2, %arg3 : i32
      tt.reduce.return %1107 : i32
    }) : (tensor<32x2x4xi32>) -> tensor<32x4xi32>
    %701 = tt.expand_dims %700 {axis = 1 : i32} : tensor<32x4xi32> -> tensor<32x1x4xi32>
    %702 = tt.broadcast %701 : tensor<32x1x4xi32> -> tensor<32x2x4xi32>
    %703 = arith.muli %698, %38 : tensor<32x2x4xi32>
    %704 = "tt.reduce"(%703) <{axis = 1 : i32}> ({
    ^bb0(%arg2: i32, %arg3: i32):
      %1107 = arith.addi %arg2, %arg3 : i32
      tt.reduce.return %1107 : i32
    }) : (tensor<32x2x4xi32>) -> tensor<32x4xi32>
    %705 = tt.expand_dims %704 {axis = 1 : i32} : tensor<32x4xi32> -> tensor<32x1x4xi32>
    %706 = tt.broadcast %705 : tensor<32x1x4xi32> -> tensor<32x2x4xi32>
    %707 = tt.reshape %702 : tensor<32x2x4xi32> -> tensor<4x64xi32>
    %708 = tt.reshape %706 : tensor<32x2x4xi32> -> tensor<4x64xi32>
    %709 = arith.cmpi sgt, %707, %708 : tensor<4x64xi32>
    %710 = arith.extui %709 : tensor<4x64xi1> to tensor<4x64xi32>
    %711 = arith.cmpi ne, %710, %cst : tensor<4x64xi32>
    %712 = arith.xori %707, %708 : tensor<4x64xi32>
    %713 = arith.select %711, %712, %cst : tensor<4x64xi1>, tensor<4x64xi32>
    %714 = arith.xori %697, %713 : tensor<4x64xi32>
    %715 = tt.reshape %714 : tensor<4x64xi32> -> tensor<64x2x2xi32>
    %716 = arith.muli %715, %41 : tensor<64x2x2xi32>
    %717 = "tt.reduce"(%716) <{axis = 1 : i32}> ({
    ^bb0(%arg2: i32, %arg3: i32):
      %1107 = arith.addi %arg2, %arg3 : i32
      tt.reduce.return %1107 : i32
    }) : (tensor<64x2x2xi32>) -> tensor<64x2xi32>
    %718 = tt.expand_dims %717 {axis = 1 : i32} : tensor<64x2xi32> -> tensor<64x1x2xi32>
    %719 = tt.broadcast %718 : tensor<64x1x2xi32> -> tensor<64x2x2xi32>
    %720 = arith.muli %715, %16 : tensor<64x2x2xi32>
    %721 = "tt.reduce"(%720) <{axis = 1 : i32}> ({
    ^bb0(%arg2: i32, %arg3: i32):
      %1107 = arith.addi %arg2, %arg3 : i32
      tt.reduce.return %1107 : i32
    }) : (tensor<64x2x2xi32>) -> tensor<64x2xi32>
    %722 = tt.expand_dims %721 {axis = 1 : i32} : tensor<64x2xi32> -> tensor<64x1x2xi32>
    %723 = tt.broadcast %722 : tensor<64x1x2xi32> -> tensor<64x2x2xi32>
    %724 = tt.reshape %719 : tensor<64x2x2xi32> -> tensor<4x64xi32>
    %725 = tt.reshape %723 : tensor<64x2x2xi32> -> tensor<4x64xi32>
    %726 = arith.cmpi sgt, %724, %725 : tensor<4x64xi32>
    %727 = arith.extui %726 : tensor<4x64xi1> to tensor<4x64xi32>
    %728 = arith.cmpi ne, %727, %cst : tensor<4x64xi32>
    %729 = arith.xori %724, %725 : tensor<4x64xi32>
    %730 = arith.select %728, %729, %cst : tensor<4x64xi1>, tensor<4x64xi32>
    %731 = arith.xori %714, %730 : tensor<4x64xi32>
    %732 = tt.reshape %731 : tensor<4x64xi32> -> tensor<128x2x1xi32>
    %733 = arith.muli %732, %20 : tensor<128x2x1xi32>
    %734 = "tt.reduce"(%733) <{axis = 1 : i32}> ({
    ^bb0(%arg2: i32, %arg3: i32):
      %1107 = arith.addi %arg2, %arg3 : i32
      tt.reduce.return %1107 : i32
    }) : (tensor<128x2x1xi32>) -> tensor<128x1xi32>
    %735 = tt.expand_dims %734 {axis = 1 : i32} : tensor<128x1xi32> -> tensor<128x1x1xi32>
    %736 = tt.broadcast %735 : tensor<128x1x1xi32> -> tensor<128x2x1xi32>
    %737 = arith.muli %732, %25 : tensor<128x2x1xi32>
    %738 = "tt.reduce"(%737) <{axis = 1 : i32}> ({
    ^bb0(%arg2: i32, %arg3: i32):
      %1107 = arith.addi %arg2, %arg3 : i32
      tt.reduce.return %1107 : i32
    }) : (tensor<128x2x1xi32>) -> tensor<128x1xi32>
    %739 = tt.expand_dims %738 {axis = 1 : i32} : tensor<128x1xi32> -> tensor<128x1x1xi32>
    %740 = tt.broadcast %739 : tensor<128x1x1xi32> -> tensor<128x2x1xi32>
    %741 = tt.reshape %736 : tensor<128x2x1xi32> -> tensor<4x64xi32>
    %742 = tt.reshape %740 : tensor<128x2x1xi32> -> tensor<4x64xi32>
    %743 = arith.cmpi sgt, %741, %742 : tensor<4x64xi32>
    %744 = arith.extui %743 : tensor<4x64xi1> to tensor<4x64xi32>
    %745 = arith.cmpi ne, %744, %cst : tensor<4x64xi32>
    %746 = arith.xori %741, %742 : tensor<4x64xi32>
    %747 = arith.select %745, %746, %cst : tensor<4x64xi1>, tensor<4x64xi32>
    %748 = arith.xori %731, %747 : tensor<4x64xi32>
    %749 = arith.andi %748, %cst_1 : tensor<4x64xi32>
    %750 = tt.reshape %749 : tensor<4x64xi32> -> tensor<128x2x1xi32>
    %751 = arith.muli %750, %20 : tensor<128x2x1xi32>
    %752 = "tt.reduce"(%751) <{axis = 1 : i32}> ({
    ^bb0(%arg2: i32, %arg3: i32):
      %1107 = arith.addi %arg2, %arg3 : i32
      tt.reduce.return %1107 : i32
    }) : (tensor<128x2x1xi32>) -> tensor<128x1xi32>
    %753 = tt.expand_dims %752 {axis = 1 : i32} : tensor<128x1xi32> -> tensor<128x1x1xi32>
    %754 = tt.broadcast %753 : tensor<128x1x1xi32> -> tensor<128x2x1xi32>
    %755 = arith.muli %750, %25 : tensor<128x2x1xi32>
    %756 = "tt.reduce"(%755) <{axis = 1 : i32}> ({
    ^bb0(%arg2: i32, %arg3: i32):
      %1107 = arith.addi %arg2, %arg3 : i32
      tt.reduce.return %1107 : i32
    }) : (tensor<128x2x1xi32>) -> tensor<128x1xi32>
    %757 = tt.expand_dims %756 {axis = 1 : i32} : tensor<128x1xi32> -> tensor<128x1x1xi32>
    %758 = tt.broadcast %757 : tensor<128x1x1xi32> -> tensor<128x2x1xi32>
    %759 = tt.reshape %754 : tensor<128x2x1xi32> -> tensor<4x64xi32>
    %760 = tt.reshape %758 : tensor<128x2x1xi32> -> tensor<4x64xi32>
    %761 = arith.cmpi sgt, %759, %760 : tensor<4x64xi32>
    %762 = arith.extui %761 : tensor<4x64xi1> to tensor<4x64xi32>
    %763 = arith.cmpi ne, %762, %17 : tensor<4x64xi32>
    %764 = arith.xori %759, %760 : tensor<4x64xi32>
    %765 = arith.select %763, %764, %cst : tensor<4x64xi1>, tensor<4x64xi32>
    %766 = arith.xori %749, %765 : tensor<4x64xi32>
    %767 = tt.reshape %766 : tensor<4x64xi32> -> tensor<64x2x2xi32>
    %768 = arith.muli %767, %41 : tensor<64x2x2xi32>
    %769 = "tt.reduce"(%768) <{axis = 1 : i32}> ({
    ^bb0(%arg2: i32, %arg3: i32):
      %1107 = arith.addi %arg2, %arg3 : i32
      tt.reduce.return %1107 : i32
    }) : (tensor<64x2x2xi32>) -> tensor<64x2xi32>
    %770 = tt.expand_dims %769 {axis = 1 : i32} : tensor<64x2xi32> -> tensor<64x1x2xi32>
    %771 = tt.broadcast %770 : tensor<64x1x2xi32> -> tensor<64x2x2xi32>
    %772 = arith.muli %767, %16 : tensor<64x2x2xi32>
    %773 = "tt.reduce"(%772) <{axis = 1 : i32}> ({
    ^bb0(%arg2: i32, %arg3: i32):
      %1107 = arith.addi %arg2, %arg3 : i32
      tt.reduce.return %1107 : i32
    }) : (tensor<64x2x2xi32>) -> tensor<64x2xi32>
    %774 = tt.expand_dims %773 {axis = 1 : i32} : tensor<64x2xi32> -> tensor<64x1x2xi32>
    %775 = tt.broadcast %774 : tensor<64x1x2xi32> -> tensor<64x2x2xi32>
    %776 = tt.reshape %771 : tensor<64x2x2xi32> -> tensor<4x64xi32>
    %777 = tt.reshape %775 : tensor<64x2x2xi32> -> tensor<4x64xi32>
    %778 = arith.cmpi sgt, %776, %777 : tensor<4x64xi32>
    %779 = arith.extui %778 : tensor<4x64xi1> to tensor<4x64xi32>
    %780 = arith.cmpi ne, %779, %39 : tensor<4x64xi32>
    %781 = arith.xori %776, %777 : tensor<4x64xi32>
    %782 = arith.select %780, %781, %cst : tensor<4x64xi1>, tensor<4x64xi32>
    %783 = arith.xori %766, %782 : tensor<4x64xi32>
    %784 = tt.reshape %783 : tensor<4x64xi32> -> tensor<128x2x1xi32>
    %785 = arith.muli %784, %20 : tensor<128x2x1xi32>
    %786 = "tt.reduce"(%785) <{axis = 1 : i32}> ({
    ^bb0(%arg2: i32, %arg3: i32):
      %1107 = arith.addi %arg2, %arg3 : i32
      tt.reduce.return %1107 : i32
    }) : (tensor<128x2x1xi32>) -> tensor<128x1xi32>
    %787 = tt.expand_dims %786 {axis = 1 : i32} : tensor<128x1xi32> -> tensor<128x1x1xi32>
    %788 = tt.broadcast %787 : tensor<128x1x1xi32> -> tensor<128x2x1xi32>
    %789 = arith.muli %784, %25 : tensor<128x2x1xi32>
    %790 = "tt.reduce"(%789) <{axis = 1 : i32}> ({
    ^bb0(%arg2: i32, %arg3: i32):
      %1107 = arith.addi %arg2, %arg3 : i32
      tt.reduce.return %1107 : i32
    }) : (tensor<128x2x1xi32>) -> tensor<128x1xi32>
    %791 = tt.expand_dims %790 {axis = 1 : i32} : tensor<128x1xi32> -> tensor<128x1x1xi32>
    %792 = tt.broadcast %791 : tensor<128x1x1xi32> -> tensor<128x2x1xi32>
    %793 = tt.reshape %788 : tensor<128x2x1xi32> -> tensor<4x64xi32>
    %794 = tt.reshape %792 : tensor<128x2x1xi32> -> tensor<4x64xi32>
    %795 = arith.cmpi sgt, %793, %794 : tensor<4x64xi32>
    %796 = arith.extui %795 : tensor<4x64xi1> to tensor<4x64xi32>
    %797 = arith.cmpi ne, %796, %39 : tensor<4x64xi32>
    %798 = arith.xori %793, %794 : tensor<4x64xi32>
    %799 = arith.select %797, %798, %cst : tensor<4x64xi1>, tensor<4x64xi32>
    %800 = arith.xori %783, %799 : tensor<4x64xi32>
    %801 = tt.reshape %800 : tensor<4x64xi32> -> tensor<32x2x4xi32>
    %802 = arith.muli %801, %78 : tensor<32x2x4xi32>
    %803 = "tt.reduce"(%802) <{axis = 1 : i32}> ({
    ^bb0(%arg2: i32, %arg3: i32):
      %1107 = arith.addi %arg2, %arg3 : i32
      tt.reduce.return %1107 : i32
    }) : (tensor<32x2x4xi32>) -> tensor<32x4xi32>
    %804 = tt.expand_dims %803 {axis = 1 : i32} : tensor<32x4xi32> -> tensor<32x1x4xi32>
    %805 = tt.broadcast %804 : tensor<32x1x4xi32> -> tensor<32x2x4xi32>
    %806 = arith.muli %801, %38 : tensor<32x2x4xi32>
    %807 = "tt.reduce"(%806) <{axis = 1 : i32}> ({
    ^bb0(%arg2: i32, %arg3: i32):
      %1107 = arith.addi %arg2, %arg3 : i32
      tt.reduce.return %1107 : i32
    }) : (tensor<32x2x4xi32>) -> tensor<32x4xi32>
    %808 = tt.expand_dims %807 {axis = 1 : i32} : tensor<32x4xi32> -> tensor<32x1x4xi32>
    %809 = tt.broadcast %808 : tensor<32x1x4xi32> -> tensor<32x2x4xi32>
    %810 = tt.reshape %805 : tensor<32x2x4xi32> -> tensor<4x64xi32>
    %811 = tt.reshape %809 : tensor<32x2x4xi32> -> tensor<4x64xi32>
    %812 = arith.cmpi sgt, %810, %811 : tensor<4x64xi32>
    %813 = arith.extui %812 : tensor<4x64xi1> to tensor<4x64xi32>
    %814 = arith.cmpi ne, %813, %76 : tensor<4x64xi32>
    %815 = arith.xori %810, %811 : tensor<4x64xi32>
    %816 = arith.select %814, %815, %cst : tensor<4x64xi1>, tensor<4x64xi32>
    %817 = arith.xori %800, %816 : tensor<4x64xi32>
    %818 = tt.reshape %817 : tensor<4x64xi32> -> tensor<64x2x2xi32>
    %819 = arith.muli %818, %41 : tensor<64x2x2xi32>
    %820 = "tt.reduce"(%819) <{axis = 1 : i32}> ({
    ^bb0(%arg2: i32, %arg3: i32):
      %1107 = arith.addi %arg2, %arg3 : i32
      tt.reduce.return %1107 : i32
    }) : (tensor<64x2x2xi32>) -> tensor<64x2xi32>
    %821 = tt.expand_dims %820 {axis = 1 : i32} : tensor<64x2xi32> -> tensor<64x1x2xi32>
    %822 = tt.broadcast %821 : tensor<64x1x2xi32> -> tensor<64x2x2xi32>
    %823 = arith.muli %818, %16 : tensor<64x2x2xi32>
    %824 = "tt.reduce"(%823) <{axis = 1 : i32}> ({
    ^bb0(%arg2: i32, %arg3: i32):
      %1107 = arith.addi %arg2, %arg3 : i32
      tt.reduce.return %1107 : i32
    }) : (tensor<64x2x2xi32>) -> tensor<64x2xi32>
    %825 = tt.expand_dims %824 {axis = 1 : i32} : tensor<64x2xi32> -> tensor<64x1x2xi32>
    %826 = tt.broadcast %825 : tensor<64x1x2xi32> -> tensor<64x2x2xi32>
    %827 = tt.reshape %822 : tensor<64x2x2xi32> -> tensor<4x64xi32>
    %828 = tt.reshape %826 : tensor<64x2x2xi32> -> tensor<4x64xi32>
    %829 = arith.cmpi sgt, %827, %828 : tensor<4x64xi32>
    %830 = arith.extui %829 : tensor<4x64xi1> to tensor<4x64xi32>
    %831 = arith.cmpi ne, %830, %76 : tensor<4x64xi32>
    %832 = arith.xori %827, %828 : tensor<4x64xi32>
    %833 = arith.select %831, %832, %cst : tensor<4x64xi1>, tensor<4x64xi32>
    %834 = arith.xori %817, %833 : tensor<4x64xi32>
    %835 = tt.reshape %834 : tensor<4x64xi32> -> tensor<128x2x1xi32>
    %836 = arith.muli %835, %20 : tensor<128x2x1xi32>
    %837 = "tt.reduce"(%836) <{axis = 1 : i32}> ({
    ^bb0(%arg2: i32, %arg3: i32):
      %1107 = arith.addi %arg2, %arg3 : i32
      tt.reduce.return %1107 : i32
    }) : (tensor<128x2x1xi32>) -> tensor<128x1xi32>
    %838 = tt.expand_dims %837 {axis = 1 : i32} : tensor<128x1xi32> -> tensor<128x1x1xi32>
    %839 = tt.broadcast %838 : tensor<128x1x1xi32> -> tensor<128x2x1xi32>
    %840 = arith.muli %835, %25 : tensor<128x2x1xi32>
    %841 = "tt.reduce"(%840) <{axis = 1 : i32}> ({
    ^bb0(%arg2: i32, %arg3: i32):
      %1107 = arith.addi %arg2, %arg3 : i32
      tt.reduce.return %1107 : i32
    }) : (tensor<128x2x1xi32>) -> tensor<128x1xi32>
    %842 = tt.expand_dims %841 {axis = 1 : i32} : tensor<128x1xi32> -> tensor<128x1x1xi32>
    %843 = tt.broadcast %842 : tensor<128x1x1xi32> -> tensor<128x2x1xi32>
    %844 = tt.reshape %839 : tensor<128x2x1xi32> -> tensor<4x64xi32>
    %845 = tt.reshape %843 : tensor<128x2x1xi32> -> tensor<4x64xi32>
    %846 = arith.cmpi sgt, %844, %845 : tensor<4x64xi32>
    %847 = arith.extui %846 : tensor<4x64xi1> to tensor<4x64xi32>
    %848 = arith.cmpi ne, %847, %76 : tensor<4x64xi32>
    %849 = arith.xori %844, %845 : tensor<4x64xi32>
    %850 = arith.select %848, %849, %cst : tensor<4x64xi1>, tensor<4x64xi32>
    %851 = arith.xori %834, %850 : tensor<4x64xi32>
    %852 = tt.reshape %851 : tensor<4x64xi32> -> tensor<16x2x8xi32>
    %853 = arith.muli %852, %132 : tensor<16x2x8xi32>
    %854 = "tt.reduce"(%853) <{axis = 1 : i32}> ({
    ^bb0(%arg2: i32, %arg3: i32):
      %1107 = arith.addi %arg2, %arg3 : i32
      tt.reduce.return %1107 : i32
    }) : (tensor<16x2x8xi32>) -> tensor<16x8xi32>
    %855 = tt.expand_dims %854 {axis = 1 : i32} : tensor<16x8xi32> -> tensor<16x1x8xi32>
    %856 = tt.broadcast %855 : tensor<16x1x8xi32> -> tensor<16x2x8xi32>
    %857 = arith.muli %852, %75 : tensor<16x2x8xi32>
    %858 = "tt.reduce"(%857) <{axis = 1 : i32}> ({
    ^bb0(%arg2: i32, %arg3: i32):
      %1107 = arith.addi %arg2, %arg3 : i32
      tt.reduce.return %1107 : i32
    }) : (tensor<16x2x8xi32>) -> tensor<16x8xi32>
    %859 = tt.expand_dims %858 {axis = 1 : i32} : tensor<16x8xi32> -> tensor<16x1x8xi32>
    %860 = tt.broadcast %859 : tensor<16x1x8xi32> -> tensor<16x2x8xi32>
    %861 = tt.reshape %856 : tensor<16x2x8xi32> -> tensor<4x64xi32>
    %862 = tt.reshape %860 : tensor<16x2x8xi32> -> tensor<4x64xi32>
    %863 = arith.cmpi sgt, %861, %862 : tensor<4x64xi32>
    %864 = arith.extui %863 : tensor<4x64xi1> to tensor<4x64xi32>
    %865 = arith.cmpi ne, %864, %130 : tensor<4x64xi32>
    %866 = arith.xori %861, %862 : tensor<4x64xi32>
    %867 = arith.select %865, %866, %cst : tensor<4x64xi1>, tensor<4x64xi32>
    %868 = arith.xori %851, %867 : tensor<4x64xi32>
    %869 = tt.reshape %868 : tensor<4x64xi32> -> tensor<32x2x4xi32>
    %870 = arith.muli %869, %78 : tensor<32x2x4xi32>
    %871 = "tt.reduce"(%870) <{axis = 1 : i32}> ({
    ^bb0(%arg2: i32, %arg3: i32):
      %1107 = arith.addi %arg2, %arg3 : i32
      tt.reduce.return %1107 : i32
    }) : (tensor<32x2x4xi32>) -> tensor<32x4xi32>
    %872 = tt.expand_dims %871 {axis = 1 : i32} : tensor<32x4xi32> -> tensor<32x1x4xi32>
    %873 = tt.broadcast %872 : tensor<32x1x4xi32> -> tensor<32x2x4xi32>
    %874 = arith.muli %869, %38 : tensor<32x2x4xi32>
    %875 = "tt.reduce"(%874) <{axis = 1 : i32}> ({
    ^bb0(%arg2: i32, %arg3: i32):
      %1107 = arith.addi %arg2, %arg3 : i32
      tt.reduce.return %1107 : i32
    }) : (tensor<32x2x4xi32>) -> tensor<32x4xi32>
    %876 = tt.expand_dims %875 {axis = 1 : i32} : tensor<32x4xi32> -> tensor<32x1x4xi32>
    %877 = tt.broadcast %876 : tensor<32x1x4xi32> -> tensor<32x2x4xi32>
    %878 = tt.reshape %873 : tensor<32x2x4xi32> -> tensor<4x64xi32>
    %879 = tt.reshape %877 : tensor<32x2x4xi32> -> tensor<4x64xi32>
    %880 = arith.cmpi sgt, %878, %879 : tensor<4x64xi32>
    %881 = arith.extui %880 : tensor<4x64xi1> to tensor<4x64xi32>
    %882 = arith.cmpi ne, %881, %130 : tensor<4x64xi32>
    %883 = arith.xori %878, %879 : tensor<4x64xi32>
    %884 = arith.select %882, %883, %cst : tensor<4x64xi1>, tensor<4x64xi32>
    %885 = arith.xori %868, %884 : tensor<4x64xi32>
    %886 = tt.reshape %885 : tensor<4x64xi32> -> tensor<64x2x2xi32>
    %887 = arith.muli %886, %41 : tensor<64x2x2xi32>
    %888 = "tt.reduce"(%887) <{axis = 1 : i32}> ({
    ^bb0(%arg2: i32, %arg3: i32):
      %1107 = arith.addi %arg2, %arg3 : i32
      tt.reduce.return %1107 : i32
    }) : (tensor<64x2x2xi32>) -> tensor<64x2xi32>
    %889 = tt.expand_dims %888 {axis = 1 : i32} : tensor<64x2xi32> -> tensor<64x1x2xi32>
    %890 = tt.broadcast %889 : tensor<64x1x2xi32> -> tensor<64x2x2xi32>
    %891 = arith.muli %886, %16 : tensor<64x2x2xi32>
    %892 = "tt.reduce"(%891) <{axis = 1 : i32}> ({
    ^bb0(%arg2: i32, %arg3: i32):
      %1107 = arith.addi %arg2, %arg3 : i32
      tt.reduce.return %1107 : i32
    }) : (tensor<64x2x2xi32>) -> tensor<64x2xi32>
    %893 = tt.expand_dims %892 {axis = 1 : i32} : tensor<64x2xi32> -> tensor<64x1x2xi32>
    %894 = tt.broadcast %893 : tensor<64x1x2xi32> -> tensor<64x2x2xi32>
    %895 = tt.reshape %890 : tensor<64x2x2xi32> -> tensor<4x64xi32>
    %896 = tt.reshape %894 : tensor<64x2x2xi32> -> tensor<4x64xi32>
    %897 = arith.cmpi sgt, %895, %896 : tensor<4x64xi32>
    %898 = arith.extui %897 : tensor<4x64xi1> to tensor<4x64xi32>
    %899 = arith.cmpi ne, %898, %130 : tensor<4x64xi32>
    %900 = arith.xori %895, %896 : tensor<4x64xi32>
    %901 = arith.select %899, %900, %cst : tensor<4x64xi1>, tensor<4x64xi32>
    %902 = arith.xori %885, %901 : tensor<4x64xi32>
    %903 = tt.reshape %902 : tensor<4x64xi32> -> tensor<128x2x1xi32>
    %904 = arith.muli %903, %20 : tensor<128x2x1xi32>
    %905 = "tt.reduce"(%904) <{axis = 1 : i32}> ({
    ^bb0(%arg2: i32, %arg3: i32):
      %1107 = arith.addi %arg2, %arg3 : i32
      tt.reduce.return %1107 : i32
    }) : (tensor<128x2x1xi32>) -> tensor<128x1xi32>
    %906 = tt.expand_dims %905 {axis = 1 : i32} : tensor<128x1xi32> -> tensor<128x1x1xi32>
    %907 = tt.broadcast %906 : tensor<128x1x1xi32> -> tensor<128x2x1xi32>
    %908 = arith.muli %903, %25 : tensor<128x2x1xi32>
    %909 = "tt.reduce"(%908) <{axis = 1 : i32}> ({
    ^bb0(%arg2: i32, %arg3: i32):
      %1107 = arith.addi %arg2, %arg3 : i32
      tt.reduce.return %1107 : i32
    }) : (tensor<128x2x1xi32>) -> tensor<128x1xi32>
    %910 = tt.expand_dims %909 {axis = 1 : i32} : tensor<128x1xi32> -> tensor<128x1x1xi32>
    %911 = tt.broadcast %910 : tensor<128x1x1xi32> -> tensor<128x2x1xi32>
    %912 = tt.reshape %907 : tensor<128x2x1xi32> -> tensor<4x64xi32>
    %913 = tt.reshape %911 : tensor<128x2x1xi32> -> tensor<4x64xi32>
    %914 = arith.cmpi sgt, %912, %913 : tensor<4x64xi32>
    %915 = arith.extui %914 : tensor<4x64xi1> to tensor<4x64xi32>
    %916 = arith.cmpi ne, %915, %130 : tensor<4x64xi32>
    %917 = arith.xori %912, %913 : tensor<4x64xi32>
    %918 = arith.select %916, %917, %cst : tensor<4x64xi1>, tensor<4x64xi32>
    %919 = arith.xori %902, %918 : tensor<4x64xi32>
    %920 = tt.reshape %919 : tensor<4x64xi32> -> tensor<8x2x16xi32>
    %921 = arith.muli %920, %203 : tensor<8x2x16xi32>
    %922 = "tt.reduce"(%921) <{axis = 1 : i32}> ({
    ^bb0(%arg2: i32, %arg3: i32):
      %1107 = arith.addi %arg2, %arg3 : i32
      tt.reduce.return %1107 : i32
    }) : (tensor<8x2x16xi32>) -> tensor<8x16xi32>
    %923 = tt.expand_dims %922 {axis = 1 : i32} : tensor<8x16xi32> -> tensor<8x1x16xi32>
    %924 = tt.broadcast %923 : tensor<8x1x16xi32> -> tensor<8x2x16xi32>
    %925 = arith.muli %920, %129 : tensor<8x2x16xi32>
    %926 = "tt.reduce"(%925) <{axis = 1 : i32}> ({
    ^bb0(%arg2: i32, %arg3: i32):
      %1107 = arith.addi %arg2, %arg3 : i32
      tt.reduce.return %1107 : i32
    }) : (tensor<8x2x16xi32>) -> tensor<8x16xi32>
    %927 = tt.expand_dims %926 {axis = 1 : i32} : tensor<8x16xi32> -> tensor<8x1x16xi32>
    %928 = tt.broadcast %927 : tensor<8x1x16xi32> -> tensor<8x2x16xi32>
    %929 = tt.reshape %924 : tensor<8x2x16xi32> -> tensor<4x64xi32>
    %930 = tt.reshape %928 : tensor<8x2x16xi32> -> tensor<4x64xi32>
    %931 = arith.cmpi sgt, %929, %930 : tensor<4x64xi32>
    %932 = arith.extui %931 : tensor<4x64xi1> to tensor<4x64xi32>
    %933 = arith.cmpi ne, %932, %201 : tensor<4x64xi32>
    %934 = arith.xori %929, %930 : tensor<4x64xi32>
    %935 = arith.select %933, %934, %cst : tensor<4x64xi1>, tensor<4x64xi32>
    %936 = arith.xori %919, %935 : tensor<4x64xi32>
    %937 = tt.reshape %936 : tensor<4x64xi32> -> tensor<16x2x8xi32>
    %938 = arith.muli %937, %132 : tensor<16x2x8xi32>
    %939 = "tt.reduce"(%938) <{axis = 1 : i32}> ({
    ^bb0(%arg2: i32, %arg3: i32):
      %1107 = arith.addi %arg2, %arg3 : i32
      tt.reduce.return %1107 : i32
    }) : (tensor<16x2x8xi32>) -> tensor<16x8xi32>
    %940 = tt.expand_dims %939 {axis = 1 : i32} : tensor<16x8xi32> -> tensor<16x1x8xi32>
    %941 = tt.broadcast %940 : tensor<16x1x8xi32> -> tensor<16x2x8xi32>
    %942 = arith.muli %937, %75 : tensor<16x2x8xi32>
    %943 = "tt.reduce"(%942) <{axis = 1 : i32}> ({
    ^bb0(%arg2: i32, %arg3: i32):
      %1107 = arith.addi %arg2, %arg3 : i32
      tt.reduce.return %1107 : i32
    }) : (tensor<16x2x8xi32>) -> tensor<16x8xi32>
    %944 = tt.expand_dims %943 {axis = 1 : i32} : tensor<16x8xi32> -> tensor<16x1x8xi32>
    %945 = tt.broadcast %944 : tensor<16x1x8xi32> -> tensor<16x2x8xi32>
    %946 = tt.reshape %941 : tensor<16x2x8xi32> -> tensor<4x64xi32>
    %947 = tt.reshape %945 : tensor<16x2x8xi32> -> tensor<4x64xi32>
    %948 = arith.cmpi sgt, %946, %947 : tensor<4x64xi32>
    %949 = arith.extui %948 : tensor<4x64xi1> to tensor<4x64xi32>
    %950 = arith.cmpi ne, %949, %201 : tensor<4x64xi32>
    %951 = arith.xori %946, %947 : tensor<4x64xi32>
    %952 = arith.select %950, %951, %cst : tensor<4x64xi1>, tensor<4x64xi32>
    %953 = arith.xori %936, %952 : tensor<4x64xi32>
    %954 = tt.reshape %953 : tensor<4x64xi32> -> tensor<32x2x4xi32>
    %955 = arith.muli %954, %78 : tensor<32x2x4xi32>
    %956 = "tt.reduce"(%955) <{axis = 1 : i32}> ({
    ^bb0(%arg2: i32, %arg3: i32):
      %1107 = arith.addi %arg2, %arg3 : i32
      tt.reduce.return %1107 : i32
    }) : (tensor<32x2x4xi32>) -> tensor<32x4xi32>
    %957 = tt.expand_dims %956 {axis = 1 : i32} : tensor<32x4xi32> -> tensor<32x1x4xi32>
    %958 = tt.broadcast %957 : tensor<32x1x4xi32> -> tensor<32x2x4xi32>
    %959 = arith.muli %954, %38 : tensor<32x2x4xi32>
    %960 = "tt.reduce"(%959) <{axis = 1 : i32}> ({
    ^bb0(%arg2: i32, %arg3: i32):
      %1107 = arith.addi %arg2, %arg3 : i32
      tt.reduce.return %1107 : i32
    }) : (tensor<32x2x4xi32>) -> tensor<32x4xi32>
    %961 = tt.expand_dims %960 {axis = 1 : i32} : tensor<32x4xi32> -> tensor<32x1x4xi32>
    %962 = tt.broadcast %961 : tensor<32x1x4xi32> -> tensor<32x2x4xi32>
    %963 = tt.reshape %958 : tensor<32x2x4xi32> -> tensor<4x64xi32>
    %964 = tt.reshape %962 : tensor<32x2x4xi32> -> tensor<4x64xi32>
    %965 = arith.cmpi sgt, %963, %964 : tensor<4x64xi32>
    %966 = arith.extui %965 : tensor<4x64xi1> to tensor<4x64xi32>
    %967 = arith.cmpi ne, %966, %201 : tensor<4x64xi32>
    %968 = arith.xori %963, %964 : tensor<4x64xi32>
    %969 = arith.select %967, %968, %cst : tensor<4x64xi1>, tensor<4x64xi32>
    %970 = arith.xori %953, %969 : tensor<4x64xi32>
    %971 = tt.reshape %970 : tensor<4x64xi32> -> tensor<64x2x2xi32>
    %972 = arith.muli %971, %41 : tensor<64x2x2xi32>
    %973 = "tt.reduce"(%972) <{axis = 1 : i32}> ({
    ^bb0(%arg2: i32, %arg3: i32):
      %1107 = arith.addi %arg2, %arg3 : i32
      tt.reduce.return %1107 : i32
    }) : (tensor<64x2x2xi32>) -> tensor<64x2xi32>
    %974 = tt.expand_dims %973 {axis = 1 : i32} : tensor<64x2xi32> -> tensor<64x1x2xi32>
    %975 = tt.broadcast %974 : tensor<64x1x2xi32> -> tensor<64x2x2xi32>
    %976 = arith.muli %971, %16 : tensor<64x2x2xi32>
    %977 = "tt.reduce"(%976) <{axis = 1 : i32}> ({
    ^bb0(%arg2: i32, %arg3: i32):
      %1107 = arith.addi %arg2, %arg3 : i32
      tt.reduce.return %1107 : i32
    }) : (tensor<64x2x2xi32>) -> tensor<64x2xi32>
    %978 = tt.expand_dims %977 {axis = 1 : i32} : tensor<64x2xi32> -> tensor<64x1x2xi32>
    %979 = tt.broadcast %978 : tensor<64x1x2xi32> -> tensor<64x2x2xi32>
    %980 = tt.reshape %975 : tensor<64x2x2xi32> -> tensor<4x64xi32>
    %981 = tt.reshape %979 : tensor<64x2x2xi32> -> tensor<4x64xi32>
    %982 = arith.cmpi sgt, %980, %981 : tensor<4x64xi32>
    %983 = arith.extui %982 : tensor<4x64xi1> to tensor<4x64xi32>
    %984 = arith.cmpi ne, %983, %201 : tensor<4x64xi32>
    %985 = arith.xori %980, %981 : tensor<4x64xi32>
    %986 = arith.select %984, %985, %cst : tensor<4x64xi1>, tensor<4x64xi32>
    %987 = arith.xori %970, %986 : tensor<4x64xi32>
    %988 = tt.reshape %987 : tensor<4x64xi32> -> tensor<128x2x1xi32>
    %989 = arith.muli %988, %20 : tensor<128x2x1xi32>
    %990 = "tt.reduce"(%989) <{axis = 1 : i32}> ({
    ^bb0(%arg2: i32, %arg3: i32):
      %1107 = arith.addi %arg2, %arg3 : i32
      tt.reduce.return %1107 : i32
    }) : (tensor<128x2x1xi32>) -> tensor<128x1xi32>
    %991 = tt.expand_dims %990 {axis = 1 : i32} : tensor<128x1xi32> -> tensor<128x1x1xi32>
    %992 = tt.broadcast %991 : tensor<128x1x1xi32> -> tensor<128x2x1xi32>
    %993 = arith.muli %988, %25 : tensor<128x2x1xi32>
    %994 = "tt.reduce"(%993) <{axis = 1 : i32}> ({
    ^bb0(%arg2: i32, %arg3: i32):
      %1107 = arith.addi %arg2, %arg3 : i32
      tt.reduce.return %1107 : i32
    }) : (tensor<128x2x1xi32>) -> tensor<128x1xi32>
    %995 = tt.expand_dims %994 {axis = 1 : i32} : tensor<128x1xi32> -> tensor<128x1x1xi32>
    %996 = tt.broadcast %995 : tensor<128x1x1xi32> -> tensor<128x2x1xi32>
    %997 = tt.reshape %992 : tensor<128x2x1xi32> -> tensor<4x64xi32>
    %998 = tt.reshape %996 : tensor<128x2x1xi32> -> tensor<4x64xi32>
    %999 = arith.cmpi sgt, %997, %998 : tensor<4x64xi32>
    %1000 = arith.extui %999 : tensor<4x64xi1> to tensor<4x64xi32>
    %1001 = arith.cmpi ne, %1000, %201 : tensor<4x64xi32>
    %1002 = arith.xori %997, %998 : tensor<4x64xi32>
    %1003 = arith.select %1001, %1002, %cst : tensor<4x64xi1>, tensor<4x64xi32>
    %1004 = arith.xori %987, %1003 : tensor<4x64xi32>
    %1005 = tt.reshape %1004 : tensor<4x64xi32> -> tensor<4x2x32xi32>
    %1006 = arith.muli %1005, %289 : tensor<4x2x32xi32>
    %1007 = "tt.reduce"(%1006) <{axis = 1 : i32}> ({
    ^bb0(%arg2: i32, %arg3: i32):
      %1107 = arith.addi %arg2, %arg3 : i32
      tt.reduce.return %1107 : i32
    }) : (tensor<4x2x32xi32>) -> tensor<4x32xi32>
    %1008 = tt.expand_dims %1007 {axis = 1 : i32} : tensor<4x32xi32> -> tensor<4x1x32xi32>
    %1009 = tt.broadcast %1008 : tensor<4x1x32xi32> -> tensor<4x2x32xi32>
    %1010 = arith.muli %1005, %200 : tensor<4x2x32xi32>
    %1011 = "tt.reduce"(%1010) <{axis = 1 : i32}> ({
    ^bb0(%arg2: i32, %arg3: i32):
      %1107 = arith.addi %arg2, %arg3 : i32
      tt.reduce.return %1107 : i32
    }) : (tensor<4x2x32xi32>) -> tensor<4x32xi32>
    %1012 = tt.expand_dims %1011 {axis = 1 : i32} : tensor<4x32xi32> -> tensor<4x1x32xi32>
    %1013 = tt.broadcast %1012 : tensor<4x1x32xi32> -> tensor<4x2x32xi32>
    %1014 = tt.reshape %1009 : tensor<4x2x32xi32> -> tensor<4x64xi32>
    %1015 = tt.reshape %1013 : tensor<4x2x32xi32> -> tensor<4x64xi32>
    %1016 = arith.cmpi sgt, %1014, %1015 : tensor<4x64xi32>
    %1017 = arith.extui %1016 : tensor<4x64xi1> to tensor<4x64xi32>
    %1018 = arith.cmpi ne, %1017, %cst : tensor<4x64xi32>
    %1019 = arith.xori %1014, %1015 : tensor<4x64xi32>
    %1020 = arith.select %1018, %1019, %cst : tensor<4x64xi1>, tensor<4x64xi32>
    %1021 = arith.xori %1004, %1020 : tensor<4x64xi32>
    %1022 = tt.reshape %1021 : tensor<4x64xi32> -> tensor<8x2x16xi32>
    %1023 = arith.muli %1022, %203 : tensor<8x2x16xi32>
    %1024 = "tt.reduce"(%1023) <{axis = 1 : i32}> ({
    ^bb0(%arg2: i32, %arg3: i32):
      %1107 = arith.addi %arg2, %arg3 : i32
      tt.reduce.return %1107 : i32
    }) : (tensor<8x2x16xi32>) -> tensor<8x16xi32>
    %1025 = tt.expand_dims %1024 {axis = 1 : i32} : tensor<8x16xi32> -> tensor<8x1x16xi32>
    %1026 = tt.broadcast %1025 : tensor<8x1x16xi32> -> tensor<8x2x16xi32>
    %1027 = arith.muli %1022, %129 : tensor<8x2x16xi32>
    %1028 = "tt.reduce"(%1027) <{axis = 1 : i32}> ({
    ^bb0(%arg2: i32, %arg3: i32):
      %1107 = arith.addi %arg2, %arg3 : i32
      tt.reduce.return %1107 : i32
    }) : (tensor<8x2x16xi32>) -> tensor<8x16xi32>
    %1029 = tt.expand_dims %1028 {axis = 1 : i32} : tensor<8x16xi32> -> tensor<8x1x16xi32>
    %1030 = tt.broadcast %1029 : tensor<8x1x16xi32> -> tensor<8x2x16xi32>
    %1031 = tt.reshape %1026 : tensor<8x2x16xi32> -> tensor<4x64xi32>
    %1032 = tt.reshape %1030 : tensor<8x2x16xi32> -> tensor<4x64xi32>
    %1033 = arith.cmpi sgt, %1031, %1032 : tensor<4x64xi32>
    %1034 = arith.extui %1033 : tensor<4x64xi1> to tensor<4x64xi32>
    %1035 = arith.cmpi ne, %1034, %cst : tensor<4x64xi32>
    %1036 = arith.xori %1031, %1032 : tensor<4x64xi32>
    %1037 = arith.select %1035, %1036, %cst : tensor<4x64xi1>, tensor<4x64xi32>
    %1038 = arith.xori %1021, %1037 : tensor<4x64xi32>
    %1039 = tt.reshape %1038 : tensor<4x64xi32> -> tensor<16x2x8xi32>
    %1040 = arith.muli %1039, %132 : tensor<16x2x8xi32>
    %1041 = "tt.reduce"(%1040) <{axis = 1 : i32}> ({
    ^bb0(%arg2: i32, %arg3: i32):
      %1107 = arith.addi %arg2, %arg3 : i32
      tt.reduce.return %1107 : i32
    }) : (tensor<16x2x8xi32>) -> tensor<16x8xi32>
    %1042 = tt.expand_dims %1041 {axis = 1 : i32} : tensor<16x8xi32> -> tensor<16x1x8xi32>
    %1043 = tt.broadcast %1042 : tensor<16x1x8xi32> -> tensor<16x2x8xi32>
    %1044 = arith.muli %1039, %75 : tensor<16x2x8xi32>
    %1045 = "tt.reduce"(%1044) <{axis = 1 : i32}> ({
    ^bb0(%arg2: i32, %arg3: i32):
      %1107 = arith.addi %arg2, %arg3 : i32
      tt.reduce.return %1107 : i32
    }) : (tensor<16x2x8xi32>) -> tensor<16x8xi32>
    %1046 = tt.expand_dims %1045 {axis = 1 : i32} : tensor<16x8xi32> -> tensor<16x1x8xi32>
    %1047 = tt.broadcast %1046 : tensor<16x1x8xi32> -> tensor<16x2x8xi32>
    %1048 = tt.reshape %1043 : tensor<16x2x8xi32> -> tensor<4x64xi32>
    %1049 = tt.reshape %1047 : tensor<16x2x8xi32> -> tensor<4x64xi32>
    %1050 = arith.cmpi sgt, %1048, %1049 : tensor<4x64xi32>
    %1051 = arith.extui %1050 : tensor<4x64xi1> to tensor<4x64xi32>
    %1052 = arith.cmpi ne, %1051, %cst : tensor<4x64xi32>
    %1053 = arith.xori %1048, %1049 : tensor<4x64xi32>
    %1054 = arith.select %1052, %1053, %cst : tensor<4x64xi1>, tensor<4x64xi32>
    %1055 = arith.xori %1038, %1054 : tensor<4x64xi32>
    %1056 = tt.reshape %1055 : tensor<4x64xi32> -> tensor<32x2x4xi32>
    %1057 = arith.muli %1056, %78 : tensor<32x2x4xi32>
    %1058 = "tt.reduce"(%1057) <{axis = 1 : i32}> ({
    ^bb0(%arg2: i32, %arg3: i32):
      %1107 = arith.addi %arg2, %arg3 : i32
      tt.reduce.return %1107 : i32
    }) : (tensor<32x2x4xi32>) -> tensor<32x4xi32>
    %1059 = tt.expand_dims %1058 {axis = 1 : i32} : tensor<32x4xi32> -> tensor<32x1x4xi32>
    %1060 = tt.broadcast %1059 : tensor<32x1x4xi32> -> tensor<32x2x4xi32>
    %1061 = arith.muli %1056, %38 : tensor<32x2x4xi32>
    %1062 = "tt.reduce"(%1061) <{axis = 1 : i32}> ({
    ^bb0(%arg2: i32, %arg3: i32):
      %1107 = arith.addi %arg2, %arg3 : i32
      tt.reduce.return %1107 : i32
    }) : (tensor<32x2x4xi32>) -> tensor<32x4xi32>
    %1063 = tt.expand_dims %1062 {axis = 1 : i32} : tensor<32x4xi32> -> tensor<32x1x4xi32>
    %1064 = tt.broadcast %1063 : tensor<32x1x4xi32> -> tensor<32x2x4xi32>
    %1065 = tt.reshape %1060 : tensor<32x2x4xi32> -> tensor<4x64xi32>
    %1066 = tt.reshape %1064 : tensor<32x2x4xi32> -> tensor<4x64xi32>
    %1067 = arith.cmpi sgt, %1065, %1066 : tensor<4x64xi32>
    %1068 = arith.extui %1067 : tensor<4x64xi1> to tensor<4x64xi32>
    %1069 = arith.cmpi ne, %1068, %cst : tensor<4x64xi32>
    %1070 = arith.xori %1065, %1066 : tensor<4x64xi32>
    %1071 = arith.select %1069, %1070, %cst : tensor<4x64xi1>, tensor<4x64xi32>
    %1072 = arith.xori %1055, %1071 : tensor<4x64xi32>
    %1073 = tt.reshape %1072 : tensor<4x64xi32> -> tensor<64x2x2xi32>
    %1074 = arith.muli %1073, %41 : tensor<64x2x2xi32>
    %1075 = "tt.reduce"(%1074) <{axis = 1 : i32}> ({
    ^bb0(%arg2: i32, %arg3: i32):
      %1107 = arith.addi %arg2, %arg3 : i32
      tt.reduce.return %1107 : i32
    }) : (tensor<64x2x2xi32>) -> tensor<64x2xi32>
    %1076 = tt.expand_dims %1075 {axis = 1 : i32} : tensor<64x2xi32> -> tensor<64x1x2xi32>
    %1077 = tt.broadcast %1076 : tensor<64x1x2xi32> -> tensor<64x2x2xi32>
    %1078 = arith.muli %1073, %16 : tensor<64x2x2xi32>
    %1079 = "tt.reduce"(%1078) <{axis = 1 : i32}> ({
    ^bb0(%arg2: i32, %arg3: i32):
      %1107 = arith.addi %arg2, %arg3 : i32
      tt.reduce.return %1107 : i32
    }) : (tensor<64x2x2xi32>) -> tensor<64x2xi32>
    %1080 = tt.expand_dims %1079 {axis = 1 : i32} : tensor<64x2xi32> -> tensor<64x1x2xi32>
    %1081 = tt.broadcast %1080 : tensor<64x1x2xi32> -> tensor<64x2x2xi32>
    %1082 = tt.reshape %1077 : tensor<64x2x2xi32> -> tensor<4x64xi32>
    %1083 = tt.reshape %1081 : tensor<64x2x2xi32> -> tensor<4x64xi32>
    %1084 = arith.cmpi sgt, %1082, %1083 : tensor<4x64xi32>
    %1085 = arith.extui %1084 : tensor<4x64xi1> to tensor<4x64xi32>
    %1086 = arith.cmpi ne, %1085, %cst : tensor<4x64xi32>
    %1087 = arith.xori %1082, %1083 : tensor<4x64xi32>
    %1088 = arith.select %1086, %1087, %cst : tensor<4x64xi1>, tensor<4x64xi32>
    %1089 = arith.xori %1072, %1088 : tensor<4x64xi32>
    %1090 = tt.reshape %1089 : tensor<4x64xi32> -> tensor<128x2x1xi32>
    %1091 = arith.muli %1090, %20 : tensor<128x2x1xi32>
    %1092 = "tt.reduce"(%1091) <{axis = 1 : i32}> ({
    ^bb0(%arg2: i32, %arg3: i32):
      %1107 = arith.addi %arg2, %arg3 : i32
      tt.reduce.return %1107 : i32
    }) : (tensor<128x2x1xi32>) -> tensor<128x1xi32>
    %1093 = tt.expand_dims %1092 {axis = 1 : i32} : tensor<128x1xi32> -> tensor<128x1x1xi32>
    %1094 = tt.broadcast %1093 : tensor<128x1x1xi32> -> tensor<128x2x1xi32>
    %1095 = arith.muli %1090, %25 : tensor<128x2x1xi32>
    %1096 = "tt.reduce"(%1095) <{axis = 1 : i32}> ({
    ^bb0(%arg2: i32, %arg3: i32):
      %1107 = arith.addi %arg2, %arg3 : i32
      tt.reduce.return %1107 : i32
    }) : (tensor<128x2x1xi32>) -> tensor<128x1xi32>
    %1097 = tt.expand_dims %1096 {axis = 1 : i32} : tensor<128x1xi32> -> tensor<128x1x1xi32>
    %1098 = tt.broadcast %1097 : tensor<128x1x1xi32> -> tensor<128x2x1xi32>
    %1099 = tt.reshape %1094 : tensor<128x2x1xi32> -> tensor<4x64xi32>
    %1100 = tt.reshape %1098 : tensor<128x2x1xi32> -> tensor<4x64xi32>
    %1101 = arith.cmpi sgt, %1099, %1100 : tensor<4x64xi32>
    %1102 = arith.extui %1101 : tensor<4x64xi1> to tensor<4x64xi32>
    %1103 = arith.cmpi ne, %1102, %cst : tensor<4x64xi32>
    %1104 = arith.xori %1099, %1100 : tensor<4x64xi32>
    %1105 = arith.select %1103, %1104, %cst : tensor<4x64xi1>, tensor<4x64xi32>
    %1106 = arith.xori %1089, %1105 : tensor<4x64xi32>
    tt.store %9, %1106 : tensor<4x64x!tt.ptr<i32>>
    tt.return
  }
}

{-#
  external_resources: {
    mlir_reproducer: {
      pipeline: "builtin.module(any(convert-triton-to-tritongpu{num-ctas=1 num-warps=16 target=cuda:90 threads-per-warp=32},tritongpu-coalesce,tritongpu-F32DotTC,triton-nvidia-gpu-plan-cta,tritongpu-remove-layout-conversions,tritongpu-optimize-thread-locality,tritongpu-accelerate-matmul,tritongpu-remove-layout-conversions,tritongpu-optimize-dot-operands{hoist-layout-conversion=true},cse,tritongpu-optimize-accumulator-init,tritongpu-combine-tensor-select-and-if,tritongpu-warp-spec-task-partition{num-consumer-groups=0},triton-gpu-taskid-propagate{num-consumer-groups=0},tritongpu-warp-spec-data-partition{num-consumer-groups=0},tritongpu-warp-spec-code-partition{consumer-reg-inc=0 num-buffers=0 num-consumer-groups=0 producer-reg-dec=0},tritongpu-pipeline{num-stages=3},tritongpu-warp-spec-lowering{num-consumer-groups=0},tritongpu-prefetch,tritongpu-optimize-dot-operands{hoist-layout-conversion=true},tritongpu-remove-layout-conversions,tritongpu-reduce-data-duplication,tritongpu-reorder-instructions,cse,symbol-dce,triton-nvidia-gpu-fence-insertion{compute-capability=90},triton-nvidia-tma-lowering,canonicalize{  max-iterations=10 max-num-rewrites=-1 region-simplify=normal test-convergence=false top-down=true}))",
      disable_threading: false,
      verify_each: false
    }
  }
#-}
