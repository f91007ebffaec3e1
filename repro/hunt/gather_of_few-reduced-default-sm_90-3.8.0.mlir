#blocked = #ttg.blocked<{sizePerThread = [1, 1], threadsPerWarp = [4, 8], warpsPerCTA = [4, 1], order = [1, 0]}>
module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.target = "cuda:90", "ttg.threads-per-warp" = 32 : i32} {
  tt.func public @kernel(%arg0: !tt.ptr<i32>) attributes {noinline = false} {
    %cst = arith.constant dense<0> : tensor<1x8xi32, #blocked>
    %cst_0 = arith.constant dense<0> : tensor<8x8xi32, #blocked>
    %0 = tt.gather %cst[%cst_0] {axis = 0 : i32} : (tensor<1x8xi32, #blocked>, tensor<8x8xi32, #blocked>) -> tensor<8x8xi32, #blocked>
    %1 = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32, #ttg.slice<{dim = 0, parent = #blocked}>>
    %2 = tt.expand_dims %1 {axis = 0 : i32} : tensor<8xi32, #ttg.slice<{dim = 0, parent = #blocked}>> -> tensor<1x8xi32, #blocked>
    %3 = tt.splat %arg0 : !tt.ptr<i32> -> tensor<1x8x!tt.ptr<i32>, #blocked>
    %4 = tt.addptr %3, %2 : tensor<1x8x!tt.ptr<i32>, #blocked>, tensor<1x8xi32, #blocked>
    %5 = tt.broadcast %4 : tensor<1x8x!tt.ptr<i32>, #blocked> -> tensor<8x8x!tt.ptr<i32>, #blocked>
    tt.store %5, %0 : tensor<8x8x!tt.ptr<i32>, #blocked>
    tt.return
  }
}

{-#
  external_resources: {
    mlir_reproducer: {
      pipeline: "builtin.module(tritongpu-optimize-thread-locality)",
      disable_threading: true,
      verify_each: true
    }
  }
#-}
