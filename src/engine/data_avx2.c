/* SPDX-License-Identifier: MIT */
/* Compiled with -mavx2. */
#define DATA_VECTOR_BYTES 32
#define DATA_KERNEL data_kernel_avx2
#define DATA_KERNEL_NAME "avx2"
#define DATA_SWAP_HALVES 1, 0, 3, 2, 5, 4, 7, 6
#include "engine/data_kernel_body.h"
