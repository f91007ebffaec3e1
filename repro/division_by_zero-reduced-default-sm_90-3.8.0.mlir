module attributes {"ttg.num-ctas" = 1 : i32, "ttg.num-warps" = 4 : i32, ttg.shared = 0 : i32, ttg.target = "cuda:90", ttg.tensor_memory_size = 0 : i32, "ttg.threads-per-warp" = 32 : i32, "ttg.total-num-warps" = 4 : i32, "ttng.two-ctas" = false} {
  tt.func public @kernel(%arg0: !tt.ptr<i32>) attributes {noinline = false} {
    %c1_i32 = arith.constant 1 : i32
    %c2_i32 = arith.constant 2 : i32
    %c0_i32 = arith.constant 0 : i32
    cf.br ^bb1(%c0_i32 : i32)
  ^bb1(%0: i32):  // 2 preds: ^bb0, ^bb2
    %1 = arith.cmpi slt, %0, %c2_i32 : i32
    cf.cond_br %1, ^bb2, ^bb3
  ^bb2:  // pred: ^bb1
    %2 = arith.divsi %0, %c0_i32 : i32
    %3 = tt.addptr %arg0, %2 : !tt.ptr<i32>, i32
    tt.store %3, %c0_i32 : !tt.ptr<i32>
    %4 = arith.addi %0, %c1_i32 : i32
    cf.br ^bb1(%4 : i32)
  ^bb3:  // pred: ^bb1
    tt.return
  }
}

{-#
  external_resources: {
    mlir_reproducer: {
      pipeline: "builtin.module(convert-triton-gpu-to-llvm{compute-capability=90 enable-concurrency-sanitizer=false ptx-version=88})",
      disable_threading: true,
      verify_each: true
    }
  }
#-}
