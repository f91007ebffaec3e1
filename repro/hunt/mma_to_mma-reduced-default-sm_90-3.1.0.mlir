#blocked = #triton_gpu.blocked<{sizePerThread = [2, 2], threadsPerWarp = [2, 16], warpsPerCTA = [8, 1], order = [1, 0]}>
#blocked1 = #triton_gpu.blocked<{sizePerThread = [1, 1], threadsPerWarp = [1, 32], warpsPerCTA = [8, 1], order = [1, 0]}>
#mma = #triton_gpu.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [8, 1], instrShape = [16, 16, 16]}>
#mma1 = #triton_gpu.nvidia_mma<{versionMajor = 3, versionMinor = 0, warpsPerCTA = [4, 2], instrShape = [16, 16, 16]}>
#shared = #triton_gpu.shared<{vec = 8, perPhase = 1, maxPhase = 8, order = [1, 0], hasLeadingOffset = true}>
#shared1 = #triton_gpu.shared<{vec = 8, perPhase = 2, maxPhase = 4, order = [1, 0], hasLeadingOffset = true}>
module attributes {"triton_gpu.num-ctas" = 1 : i32, "triton_gpu.num-warps" = 8 : i32, triton_gpu.target = "cuda:90", "triton_gpu.threads-per-warp" = 32 : i32} {
  tt.func public @kernel(%arg0: !tt.ptr<f16>, %arg1: !tt.ptr<i8>, %arg2: i32) attributes {noinline = false} {
    %cst = arith.constant dense<0.000000e+00> : tensor<64x32xf32, #mma>
    %c0_i32 = arith.constant 0 : i32
    %cst_0 = arith.constant dense<0.000000e+00> : tensor<64x64xf16, #triton_gpu.dot_op<{opIdx = 0, parent = #blocked}>>
    %0 = triton_gpu.local_alloc %cst_0 : (tensor<64x64xf16, #triton_gpu.dot_op<{opIdx = 0, parent = #blocked}>>) -> !tt.memdesc<64x64xf16, #shared>
    %1 = tt.addptr %arg0, %c0_i32 : !tt.ptr<f16>, i32
    %2 = tt.make_range {end = 32 : i32, start = 0 : i32} : tensor<32xi32, #triton_gpu.slice<{dim = 0, parent = #blocked1}>>
    %3 = tt.expand_dims %2 {axis = 0 : i32} : tensor<32xi32, #triton_gpu.slice<{dim = 0, parent = #blocked1}>> -> tensor<1x32xi32, #blocked1>
    %4 = tt.splat %1 : !tt.ptr<f16> -> tensor<1x32x!tt.ptr<f16>, #blocked1>
    %5 = tt.addptr %4, %3 : tensor<1x32x!tt.ptr<f16>, #blocked1>, tensor<1x32xi32, #blocked1>
    %6 = tt.broadcast %5 : tensor<1x32x!tt.ptr<f16>, #blocked1> -> tensor<64x32x!tt.ptr<f16>, #blocked1>
    %7 = tt.load %6 : tensor<64x32x!tt.ptr<f16>, #blocked1>
    %8 = triton_gpu.local_alloc %7 : (tensor<64x32xf16, #blocked1>) -> !tt.memdesc<64x32xf16, #shared1>
    triton_nvidia_gpu.fence_async_shared {bCluster = false}
    %9 = tt.dot %0, %8, %cst, inputPrecision = tf32 : !tt.memdesc<64x64xf16, #shared> * !tt.memdesc<64x32xf16, #shared1> -> tensor<64x32xf32, #mma>
    %10 = triton_gpu.convert_layout %9 : tensor<64x32xf32, #mma> -> tensor<64x32xf32, #mma1>
    triton_nvidia_gpu.fence_async_shared {bCluster = false}
    %11 = tt.dot %0, %8, %10, inputPrecision = tf32 : !tt.memdesc<64x64xf16, #shared> * !tt.memdesc<64x32xf16, #shared1> -> tensor<64x32xf32, #mma1>
    %12 = triton_gpu.convert_layout %11 : tensor<64x32xf32, #mma1> -> tensor<64x32xf32, #blocked1>
    %13 = tt.addptr %arg1, %c0_i32 : !tt.ptr<i8>, i32
    %14 = tt.splat %13 : !tt.ptr<i8> -> tensor<1x32x!tt.ptr<i8>, #blocked1>
    %15 = tt.addptr %14, %3 : tensor<1x32x!tt.ptr<i8>, #blocked1>, tensor<1x32xi32, #blocked1>
    %16 = tt.broadcast %15 : tensor<1x32x!tt.ptr<i8>, #blocked1> -> tensor<64x32x!tt.ptr<i8>, #blocked1>
    %17 = arith.fptosi %12 : tensor<64x32xf32, #blocked1> to tensor<64x32xi8, #blocked1>
    tt.store %16, %17 : tensor<64x32x!tt.ptr<i8>, #blocked1>
    tt.return
  }
}

{-#
  external_resources: {
    mlir_reproducer: {
      pipeline: "builtin.module(any(decompose-unsupported-nvidia-conversions,tritongpu-combine-tensor-select-and-if,convert-scf-to-cf,convert-index-to-llvm{index-bitwidth=0},allocate-shared-memory,convert-triton-gpu-to-llvm{compute-capability=90},convert-nv-gpu-to-llvm,convert-arith-to-llvm{index-bitwidth=0},canonicalize{  max-iterations=10 max-num-rewrites=-1 region-simplify=true test-convergence=false top-down=true},cse,symbol-dce,enable-line-info))",
      disable_threading: false,
      verify_each: false
    }
  }
#-}
