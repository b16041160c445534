"""PyTorch's own functions, with kernels of cuBLAS, cuDNN and CUB: recorded and counted (bench/recorded/measure.py).

python torch_library_program.py        on a GPU, with torch
"""

import torch
from torch.nn import functional

DEVICE = "cuda"


def random(*shape, dtype=torch.float32):
    return torch.randn(*shape, device=DEVICE, dtype=dtype)


def attended(dtype):
    return functional.scaled_dot_product_attention(*(random(1, 2, 128, 64, dtype=dtype) for _ in range(3)))


def forward(x, keys):
    yield lambda: torch.softmax(x, -1)
    yield lambda: torch.softmax(x, 0)
    yield lambda: functional.layer_norm(x, (1000,))
    yield from (lambda axis=axis: x.sum(axis) for axis in ((0, 1), 0, 1))
    yield lambda: x.std(1)
    yield from (lambda axis=axis: torch.cumsum(x, axis) for axis in (0, 1))
    yield lambda: torch.sort(x[:8])
    yield lambda: torch.sort(keys)
    yield lambda: torch.topk(x, 5)
    yield lambda: torch.unique(keys)
    yield lambda: torch.histc(x, 64)
    yield lambda: torch.bincount(keys)
    yield lambda: x.transpose(0, 1).contiguous()
    yield lambda: torch.argmax(x, 1)
    yield lambda: functional.cross_entropy(x, keys[:512] % 1000)
    yield lambda: torch.nonzero(x > 0)
    yield lambda: torch.multinomial(torch.rand(4, 500, device=DEVICE), 10)
    yield lambda: functional.embedding(keys, random(1000, 64))
    yield lambda: torch.median(x, 1)
    yield lambda: torch.kthvalue(x, 5, 1)
    yield lambda: functional.conv2d(random(2, 8, 16, 16), random(8, 8, 3, 3))
    yield lambda: functional.conv2d(random(2, 8, 16, 16), random(8, 1, 3, 3), groups=8)
    yield lambda: functional.batch_norm(random(8, 16, 8, 8), None, None, training=True)
    yield lambda: functional.group_norm(random(4, 16, 8, 8), 4)
    yield lambda: random(64, 512, dtype=torch.float16) @ random(512, 64, dtype=torch.float16)
    yield lambda: x @ x.T
    yield lambda: attended(torch.float16)
    yield lambda: attended(torch.float32)
    yield lambda: functional.max_pool2d(random(2, 8, 16, 16), 2)
    yield lambda: torch.linalg.inv(torch.eye(32, device=DEVICE).repeat(4, 1, 1))
    yield lambda: torch.fft.fft(x[:, :512])
    yield lambda: torch.cdist(x[:64], x[64:128])
    yield lambda: torch.randperm(5000, device=DEVICE)
    yield lambda: torch.searchsorted(x[0].sort()[0], x[1])
    yield lambda: torch.cummax(x, 1)
    yield lambda: torch.mode(keys[:1000])
    yield lambda: torch.index_add(x, 0, keys[:512] % 512, x)
    yield lambda: torch.scatter_add(x, 1, keys[:512][:, None] % 1000, x[:, :1])
    yield lambda: functional.embedding_bag(keys[:1000], random(1000, 64), torch.arange(0, 1000, 10, device=DEVICE))


def backward(x, keys):
    ones, zeros = torch.ones(1000, device=DEVICE), torch.zeros(1000, device=DEVICE)
    yield (lambda a: functional.layer_norm(a, (1000,), ones, zeros)), (x.clone(),)
    yield (lambda a: torch.softmax(a, 1)), (x.clone(),)
    yield (lambda a: functional.embedding(keys, a)), (random(1000, 64),)
    yield functional.scaled_dot_product_attention, [random(1, 2, 128, 64, dtype=torch.float16) for _ in range(3)]
    yield (lambda a: functional.conv2d(a, random(8, 8, 3, 3))), (random(2, 8, 16, 16),)


def main():
    torch.manual_seed(1)
    x, keys = random(512, 1000), torch.randint(0, 1000, (20000,), device=DEVICE)
    for call in forward(x, keys):
        call()
        torch.cuda.synchronize()
    for call, inputs in backward(x, keys):
        call(*[one.requires_grad_() for one in inputs]).float().sum().backward()
    torch.cuda.synchronize()


if __name__ == "__main__":
    main()
