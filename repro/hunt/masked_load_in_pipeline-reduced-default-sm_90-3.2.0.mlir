module {
  tt.func public @kernel(%arg0: !tt.ptr<f32>, %arg1: !tt.ptr<f32>, %arg2: !tt.ptr<f64>, %arg3: i32, %arg4: i32, %arg5: i32, %arg6: i32) attributes {noinline = false} {
    %cst = arith.constant dense<1.000000e+00> : tensor<1x1x8xf32>
    %c1_i32 = arith.constant 1 : i32
    %c0_i32 = arith.constant 0 : i32
    %cst_0 = arith.constant dense<0.000000e+00> : tensor<1x1x8xf32>
    %0 = arith.cmpi sgt, %arg5, %c0_i32 : i32
    %1 = tt.addptr %arg1, %c0_i32 : !tt.ptr<f32>, i32
    %2 = tt.splat %1 : !tt.ptr<f32> -> tensor<1x1x8x!tt.ptr<f32>>
    %3 = tt.splat %0 : i1 -> tensor<1x1x8xi1>
    %4 = scf.for %arg7 = %c0_i32 to %arg4 step %c1_i32 iter_args(%arg8 = %cst_0) -> (tensor<1x1x8xf32>)  : i32 {
      %14 = tt.load %2, %3, %cst : tensor<1x1x8x!tt.ptr<f32>>
      %15 = arith.addf %arg8, %14 : tensor<1x1x8xf32>
      scf.yield %15 : tensor<1x1x8xf32>
    } {tt.num_stages = 3 : i32}
    %5 = tt.addptr %arg2, %c0_i32 : !tt.ptr<f64>, i32
    %6 = tt.make_range {end = 8 : i32, start = 0 : i32} : tensor<8xi32>
    %7 = tt.expand_dims %6 {axis = 0 : i32} : tensor<8xi32> -> tensor<1x8xi32>
    %8 = tt.expand_dims %7 {axis = 0 : i32} : tensor<1x8xi32> -> tensor<1x1x8xi32>
    %9 = tt.splat %5 : !tt.ptr<f64> -> tensor<1x1x8x!tt.ptr<f64>>
    %10 = tt.addptr %9, %8 : tensor<1x1x8x!tt.ptr<f64>>, tensor<1x1x8xi32>
    %11 = tt.broadcast %10 : tensor<1x1x8x!tt.ptr<f64>> -> tensor<1x4x8x!tt.ptr<f64>>
    %12 = arith.extf %4 : tensor<1x1x8xf32> to tensor<1x1x8xf64>
    %13 = tt.broadcast %12 : tensor<1x1x8xf64> -> tensor<1x4x8xf64>
    tt.store %11, %13 : tensor<1x4x8x!tt.ptr<f64>>
    tt.return
  }
}

{-#
  external_resources: {
    mlir_reproducer: {
      pipeline: "builtin.module(any(convert-triton-to-tritongpu{num-ctas=1 num-warps=4 target=cuda:90 threads-per-warp=32},tritongpu-coalesce,tritongpu-F32DotTC,triton-nvidia-gpu-plan-cta,tritongpu-remove-layout-conversions,tritongpu-optimize-thread-locality,tritongpu-accelerate-matmul,tritongpu-remove-layout-conversions,tritongpu-optimize-dot-operands{hoist-layout-conversion=true},cse,tritongpu-optimize-accumulator-init,tritongpu-combine-tensor-select-and-if,tritongpu-warp-spec-task-partition{num-consumer-groups=0},triton-gpu-taskid-propagate{num-consumer-groups=0},tritongpu-warp-spec-data-partition{num-consumer-groups=0},tritongpu-warp-spec-code-partition{consumer-reg-inc=0 num-buffers=0 num-consumer-groups=0 producer-reg-dec=0},tritongpu-pipeline{num-stages=3},tritongpu-warp-spec-lowering{num-consumer-groups=0},tritongpu-prefetch,tritongpu-optimize-dot-operands{hoist-layout-conversion=true},tritongpu-remove-layout-conversions,tritongpu-reduce-data-duplication,tritongpu-reorder-instructions,cse,symbol-dce,triton-nvidia-gpu-fence-insertion{compute-capability=90},triton-nvidia-tma-lowering,canonicalize{  max-iterations=10 max-num-rewrites=-1 region-simplify=normal test-convergence=false top-down=true}))",
      disable_threading: false,
      verify_each: false
    }
  }
#-}
