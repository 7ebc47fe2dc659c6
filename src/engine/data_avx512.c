/* SPDX-License-Identifier: MIT */
/* Compiled with -mavx512f. */
#define DATA_VECTOR_BYTES 64
#define DATA_KERNEL data_kernel_avx512
#define DATA_KERNEL_NAME "avx512"
#define DATA_SWAP_HALVES 1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14
#include "engine/data_kernel_body.h"
