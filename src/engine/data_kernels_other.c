/* SPDX-License-Identifier: MIT */
#include "engine/data_kernel.h"

const struct data_kernel *const *data_kernels(void)
{
	static const struct data_kernel *const all[] = { &data_kernel_generic, NULL };

	return all;
}
