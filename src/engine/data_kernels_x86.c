/* SPDX-License-Identifier: MIT */
#include "engine/data_kernel.h"

/* cpu_supports asks the operating system too, whether it keeps the wide registers. */
const struct data_kernel *const *data_kernels(void)
{
	static const struct data_kernel *const all[] = {
		&data_kernel_avx512,
		&data_kernel_avx2,
		&data_kernel_generic,
		NULL,
	};

	if (__builtin_cpu_supports("avx512f"))
		return all;
	return __builtin_cpu_supports("avx2") ? all + 1 : all + 2;
}
