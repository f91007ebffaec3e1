module attributes {"triton_gpu.num-ctas" = 1 : i32, "triton_gpu.num-warps" = 4 : i32, triton_gpu.target = "cuda:90", "triton_gpu.threads-per-warp" = 32 : i32} {
  tt.func public @kernel(%arg0: !tt.ptr<f64>, %arg1: !tt.ptr<bf16>) attributes {noinline = false} {
    %0 = tt.load %arg0 : !tt.ptr<f64>
    %1 = arith.truncf %0 : f64 to bf16
    tt.store %arg1, %1 : !tt.ptr<bf16>
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
