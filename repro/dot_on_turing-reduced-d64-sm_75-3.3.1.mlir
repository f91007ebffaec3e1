#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [2, 16], warpsPerCTA = [4, 1], order = [1, 0]}>
#blocked1 = #ttg.blocked<{sizePerThread = [1, 2], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
#blocked2 = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [16, 2], warpsPerCTA = [1, 4], order = [0, 1]}>
#shared = #ttg.swizzled_shared<{vec = 1, perPhase = 1, maxPhase = 1, order = [1, 0]}>
#smem = #ttg.shared_memory
module attributes {ttg.global_scratch_memory_alignment = 1 : i32, ttg.global_scratch_memory_size = 0 : i32, "ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.shared = 1088 : i32, ttg.target = "cuda:75", ttg.tensor_memory_size = 0 : i32, "ttg.threads-per-warp" = 32 : i32, "ttg.total-num-warps" = 4 : i32} {
  tt.func public @kernel(%arg0: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %arg1: !tt.ptr<i32> {tt.divisibility = 16 : i32}) attributes {noinline = false, ttg.global_scratch_memory_alignment = 1 : i32, ttg.global_scratch_memory_size = 0 : i32} {
    %cst = arith.constant dense<0.000000e+00> : tensor<16x16xf32, #ttg.dot_op<{opIdx = 0, parent = #blocked}>>
    %cst_0 = arith.constant dense<0.000000e+00> : tensor<16x16xf32, #blocked>
    %0 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32, #ttg.slice<{dim = 0, parent = #blocked1}>>
    %1 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32, #ttg.slice<{dim = 0, parent = #blocked2}>>
    %2 = tt.expand_dims %0 {axis = 0 : i32} : tensor<16xi32, #ttg.slice<{dim = 0, parent = #blocked1}>> -> tensor<1x16xi32, #blocked1>
    %3 = tt.expand_dims %1 {axis = 0 : i32} : tensor<16xi32, #ttg.slice<{dim = 0, parent = #blocked2}>> -> tensor<1x16xi32, #blocked2>
    %4 = tt.splat %arg0 : !tt.ptr<f16> -> tensor<1x16x!tt.ptr<f16>, #blocked1>
    %5 = tt.addptr %4, %2 : tensor<1x16x!tt.ptr<f16>, #blocked1>, tensor<1x16xi32, #blocked1>
    %6 = tt.broadcast %5 : tensor<1x16x!tt.ptr<f16>, #blocked1> -> tensor<16x16x!tt.ptr<f16>, #blocked1>
    %7 = tt.load %6 : tensor<16x16x!tt.ptr<f16>, #blocked1>
    %8 = tt.make_range {end = 16 : i32, start = 0 : i32} : tensor<16xi32, #ttg.slice<{dim = 1, parent = #blocked2}>>
    %9 = tt.expand_dims %8 {axis = 1 : i32} : tensor<16xi32, #ttg.slice<{dim = 1, parent = #blocked2}>> -> tensor<16x1xi32, #blocked2>
    %10 = tt.splat %arg1 : !tt.ptr<i32> -> tensor<16x1x!tt.ptr<i32>, #blocked2>
    %11 = tt.addptr %10, %9 : tensor<16x1x!tt.ptr<i32>, #blocked2>, tensor<16x1xi32, #blocked2>
    %12 = tt.broadcast %11 : tensor<16x1x!tt.ptr<i32>, #blocked2> -> tensor<16x16x!tt.ptr<i32>, #blocked2>
    %13 = tt.broadcast %3 : tensor<1x16xi32, #blocked2> -> tensor<16x16xi32, #blocked2>
    %14 = tt.addptr %12, %13 : tensor<16x16x!tt.ptr<i32>, #blocked2>, tensor<16x16xi32, #blocked2>
    %15 = tt.fp_to_fp %7 : tensor<16x16xf16, #blocked1> -> tensor<16x16xf32, #blocked1>
    %16 = ttg.local_alloc %15 {allocation.offset = 0 : i32} : (tensor<16x16xf32, #blocked1>) -> !ttg.memdesc<16x16xf32, #shared, #smem>
    %17 = ttg.local_load %16 : !ttg.memdesc<16x16xf32, #shared, #smem> -> tensor<16x16xf32, #ttg.dot_op<{opIdx = 1, parent = #blocked}>>
    %18 = tt.dot %cst, %17, %cst_0, inputPrecision = tf32 : tensor<16x16xf32, #ttg.dot_op<{opIdx = 0, parent = #blocked}>> * tensor<16x16xf32, #ttg.dot_op<{opIdx = 1, parent = #blocked}>> -> tensor<16x16xf32, #blocked>
    %19 = arith.fptosi %18 : tensor<16x16xf32, #blocked> to tensor<16x16xi32, #blocked>
    %20 = ttg.convert_layout %19 {allocation.offset = 0 : i32} : tensor<16x16xi32, #blocked> -> tensor<16x16xi32, #blocked2>
    tt.store %14, %20 : tensor<16x16x!tt.ptr<i32>, #blocked2>
    tt.return
  }
}

{-#
  external_resources: {
    mlir_reproducer: {
      pipeline: "builtin.module(convert-triton-gpu-to-llvm{compute-capability=75 ptx-version=84})",
      disable_threading: true,
      verify_each: true
    }
  }
#-}
