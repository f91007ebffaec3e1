import triton
import triton.language as tl


@triton.jit
def chained_dots(q, k, v, out, ROWS: tl.constexpr, INNER: tl.constexpr, WIDTH: tl.constexpr):
    """(q @ k) @ v, of one block each."""
    rows, inner, columns = tl.arange(0, ROWS), tl.arange(0, INNER), tl.arange(0, WIDTH)
    product = tl.dot(
        tl.load(q + rows[:, None] * INNER + inner), tl.load(k + inner[:, None] * ROWS + rows)
    )
    values = tl.load(v + rows[:, None] * WIDTH + columns)
    product = tl.dot(product.to(tl.float16), values)
    tl.store(out + rows[:, None] * WIDTH + columns, product)
