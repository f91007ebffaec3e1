#blocked = #triton_gpu.blocked<{sizePerThread = [1, 8], threadsPerWarp = [4, 8], warpsPerCTA = [8, 1], order = [1, 0]}>
#mma = #triton_gpu.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 2], instrShape = [16, 32, 16]}>
#mma1 = #triton_gpu.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [8, 1], instrShape = [16, 32, 16]}>
#shared = #triton_gpu.shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0], hasLeadingOffset = true}>
module attributes {"triton_gpu.num-ctas" = 1 : i32, "triton_gpu.num-warps" = 8 : i32, triton_gpu.target = "cuda:90", "triton_gpu.threads-per-warp" = 32 : i32} {
  tt.func public @dot_into_dot(%arg0: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %arg1: !tt.ptr<f16> {tt.divisibility = 16 : i32}, %arg2: i32) attributes {noinline = false} {
    %cst = arith.constant dense<0.000000e+00> : tensor<64x64xf32, #mma>
    %cst_0 = arith.constant dense<0.000000e+00> : tensor<64x64xf32, #mma1>
    %c2_i32 = arith.constant 2 : i32
    %cst_1 = arith.constant dense<64> : tensor<64x1xi32, #blocked>
    %0 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #triton_gpu.slice<{dim = 1, parent = #blocked}>>
    %1 = tt.expand_dims %0 {axis = 1 : i32} : tensor<64xi32, #triton_gpu.slice<{dim = 1, parent = #blocked}>> -> tensor<64x1xi32, #blocked>
    %2 = arith.muli %1, %cst_1 : tensor<64x1xi32, #blocked>
    %3 = tt.make_range {end = 64 : i32, start = 0 : i32} : tensor<64xi32, #triton_gpu.slice<{dim = 0, parent = #blocked}>>
    %4 = tt.expand_dims %3 {axis = 0 : i32} : tensor<64xi32, #triton_gpu.slice<{dim = 0, parent = #blocked}>> -> tensor<1x64xi32, #blocked>
    %5 = tt.broadcast %2 : tensor<64x1xi32, #blocked> -> tensor<64x64xi32, #blocked>
    %6 = tt.broadcast %4 : tensor<1x64xi32, #blocked> -> tensor<64x64xi32, #blocked>
    %7 = arith.addi %5, %6 : tensor<64x64xi32, #blocked>
    %8 = tt.splat %arg0 : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>, #blocked>
    %9 = tt.addptr %8, %7 : tensor<64x64x!tt.ptr<f16>, #blocked>, tensor<64x64xi32, #blocked>
    %10 = tt.load %9 : tensor<64x64x!tt.ptr<f16>, #blocked>
    %11 = triton_gpu.local_alloc %10 : (tensor<64x64xf16, #blocked>) -> !tt.memdesc<64x64xf16, #shared, #triton_gpu.shared_memory>
    %12 = tt.addptr %arg0, %arg2 : !tt.ptr<f16>, i32
    %13 = tt.splat %12 : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>, #blocked>
    %14 = tt.addptr %13, %7 : tensor<64x64x!tt.ptr<f16>, #blocked>, tensor<64x64xi32, #blocked>
    %15 = tt.load %14 : tensor<64x64x!tt.ptr<f16>, #blocked>
    %16 = triton_gpu.local_alloc %15 : (tensor<64x64xf16, #blocked>) -> !tt.memdesc<64x64xf16, #shared, #triton_gpu.shared_memory>
    %17 = arith.muli %arg2, %c2_i32 : i32
    %18 = tt.addptr %arg0, %17 : !tt.ptr<f16>, i32
    %19 = tt.splat %18 : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>, #blocked>
    %20 = tt.addptr %19, %7 : tensor<64x64x!tt.ptr<f16>, #blocked>, tensor<64x64xi32, #blocked>
    %21 = tt.load %20 : tensor<64x64x!tt.ptr<f16>, #blocked>
    %22 = triton_gpu.local_alloc %21 : (tensor<64x64xf16, #blocked>) -> !tt.memdesc<64x64xf16, #shared, #triton_gpu.shared_memory>
    triton_nvidia_gpu.fence_async_shared {bCluster = false}
    %23 = triton_nvidia_gpu.warp_group_dot %11, %16, %cst_0 {inputPrecision = 0 : i32} : !tt.memdesc<64x64xf16, #shared, #triton_gpu.shared_memory> * !tt.memdesc<64x64xf16, #shared, #triton_gpu.shared_memory> -> tensor<64x64xf32, #mma1>
    %24 = arith.truncf %23 : tensor<64x64xf32, #mma1> to tensor<64x64xf16, #mma1>
    %25 = triton_gpu.local_alloc %24 : (tensor<64x64xf16, #mma1>) -> !tt.memdesc<64x64xf16, #shared, #triton_gpu.shared_memory>
    %26 = tt.splat %arg1 : !tt.ptr<f16> -> tensor<64x64x!tt.ptr<f16>, #blocked>
    %27 = tt.addptr %26, %7 : tensor<64x64x!tt.ptr<f16>, #blocked>, tensor<64x64xi32, #blocked>
    triton_nvidia_gpu.fence_async_shared {bCluster = false}
    %28 = triton_nvidia_gpu.warp_group_dot %22, %25, %cst {inputPrecision = 0 : i32} : !tt.memdesc<64x64xf16, #shared, #triton_gpu.shared_memory> * !tt.memdesc<64x64xf16, #shared, #triton_gpu.shared_memory> -> tensor<64x64xf32, #mma>
    %29 = arith.truncf %28 : tensor<64x64xf32, #mma> to tensor<64x64xf16, #mma>
    %30 = triton_gpu.convert_layout %29 : tensor<64x64xf16, #mma> -> tensor<64x64xf16, #blocked>
    tt.store %27, %30 : tensor<64x64x!tt.ptr<f16>, #blocked>
    tt.return
  }
}

{-#
  external_resources: {
    mlir_reproducer: {
      pipeline: "builtin.module(any(decompose-unsupported-nvidia-conversions,tritongpu-combine-tensor-select-and-if,convert-scf-to-cf,convert-index-to-llvm{index-bitwidth=0},allocate-shared-memory,convert-triton-gpu-to-llvm{compute-capability=90 ptx-version=84},convert-nv-gpu-to-llvm,convert-arith-to-llvm{index-bitwidth=0},canonicalize{  max-iterations=10 max-num-rewrites=-1 region-simplify=normal test-convergence=false top-down=true},cse,symbol-dce,enable-line-info))",
      disable_threading: false,
      verify_each: false
    }
  }
#-}
