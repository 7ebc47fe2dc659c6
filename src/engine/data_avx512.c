/* SPDX-License-Identifier: MIT */
/* Compiled with -mavx512f. */
#define DATA_VECTOR_BYTES 64
#define DATA_KERNEL data_kernel_avx512
#define DATA_KERNEL_NAME "avx512"
#include "engine/data_kernel_body.h"
