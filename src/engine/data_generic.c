/* SPDX-License-Identifier: MIT */
/* 16 bytes: SSE2 on x86-64, NEON on arm64; the compiler splits it elsewhere. */
#define DATA_VECTOR_BYTES 16
#define DATA_KERNEL data_kernel_generic
#define DATA_KERNEL_NAME "generic"
#define DATA_SWAP_HALVES 1, 0, 3, 2
#include "engine/data_kernel_body.h"
