"""A model compiled by torch.compile, to be recorded: python inductor_program.py on a GPU, with torch."""

import torch


@torch.compile
def block(x, weight, bias):
    y = torch.nn.functional.layer_norm(x @ weight, (x.shape[-1],), bias, bias)
    return torch.softmax(y, -1).transpose(0, 1).contiguous()


def main():
    torch.manual_seed(20)
    x, weight, bias = (torch.randn(*shape, device="cuda") for shape in ((512, 256), (256, 256), (256,)))
    block(x, weight, bias)
    torch.cuda.synchronize()


if __name__ == "__main__":
    main()
