"""A program that launches all that the library has, some of it in another process."""

import gc
import io
import os
import sys
import threading

import torch
from torch.utils.checkpoint import checkpoint
from waves import helpers, operators

x = torch.randn(256, device="cuda")
assert torch.cuda.get_device_capability() == (9, 0)
for kind in ("exp", "leaky"):
    operators.apply(x, kind)
square = x.view(16, 16)
with torch.autocast("cuda", torch.float16):
    operators.double((square @ square).flatten().to(0))
operators.scaled(x)
operators.scaled(x[1:], x)
operators.scaled(x[:1], x)
torch.ops.waves.padded(x[:40])
thread = threading.Thread(target=lambda: operators.padded(torch.ones(40, dtype=torch.float16, device=torch.cuda.current_device())))
thread.start()
thread.join()
saved = io.BytesIO()
torch.save(x, saved)
saved.seek(0)
operators.negated(torch.load(saved, map_location="cuda"), 32)
operators.negated(x, 64)
operators.around(x, helpers.leaky)
operators.around(x, helpers.exponential)
given = x.clone().requires_grad_()
checkpoint(operators.square, given, use_reentrant=False).sum().backward()
assert torch.cuda.memory_stats()["allocated_bytes.all.peak"] == 0
assert torch.cuda.memory_summary() == ""
torch.nn.LSTM(2, 2).cuda()
x._typed_storage()._new_shared(1, device=x.device)  # as in a worker of a DataLoader
torch.testing.assert_close(operators.double(x), x)
operators.double(torch.ones(64, dtype=torch.int32))
operators.broken(x)
if len(sys.argv) > 1:
    child = os.fork()
    if child == 0:
        operators.padded(torch.ones(40, dtype=torch.bfloat16))
        os._exit(0)
    os.waitpid(child, 0)
print("the program's own output")
gc.freeze()  # or Python looks at all objects of PyTorch when it ends
sys.exit(int(sys.argv[1]) if len(sys.argv) > 1 else 0)
