module attributes {"triton_gpu.num-ctas" = 1 : i32, "triton_gpu.num-warps" = 4 : i32, triton_gpu.target = "cuda:90", "triton_gpu.threads-per-warp" = 32 : i32} {
  tt.func public @kernel(%arg0: !tt.ptr<i32>) attributes {noinline = false} {
    %c0_i32 = arith.constant 0 : i32
    %c2_i32 = arith.constant 2 : i32
    %c1_i32 = arith.constant 1 : i32
    scf.for %arg1 = %c0_i32 to %c2_i32 step %c1_i32  : i32 {
      %0 = arith.divsi %arg1, %c0_i32 : i32
      %1 = tt.addptr %arg0, %0 : !tt.ptr<i32>, i32
      tt.store %1, %c0_i32 : !tt.ptr<i32>
    }
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
