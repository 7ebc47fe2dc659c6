/* SPDX-License-Identifier: MIT */
#pragma once

/*
 * kernel - a system call made in place, where one is made per request. The library's
 * functions cost more than their instructions: the kernel's own calls push ours out of the
 * processor's return predictor, so that each return on the way up is mispredicted, about 8 ns;
 * and in a program with threads those that can be cancelled make two calls besides.
 */

#include <sys/syscall.h>
#include <unistd.h>

_Static_assert(sizeof(long) == 8, "offsets are passed in one argument");

#if !defined(__x86_64__) && !defined(__aarch64__)
#include <errno.h>
#endif

/* The result, or a negative errno; errno itself is left alone. Six arguments are the kernel's. */
static inline long kernel_call(long number, long a, long b, long c, long d, long e, long f)
{
#if defined(__x86_64__)
	register long r10 __asm__("r10") = d;
	register long r8 __asm__("r8") = e;
	register long r9 __asm__("r9") = f;
	long result;

	__asm__ volatile("syscall"
			 : "=a"(result)
			 : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return result;
#elif defined(__aarch64__)
	register long x8 __asm__("x8") = number;
	register long x0 __asm__("x0") = a;
	register long x1 __asm__("x1") = b;
	register long x2 __asm__("x2") = c;
	register long x3 __asm__("x3") = d;
	register long x4 __asm__("x4") = e;
	register long x5 __asm__("x5") = f;

	__asm__ volatile("svc #0"
			 : "+r"(x0)
			 : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5)
			 : "memory");
	return x0;
#else
	const long result = syscall(number, a, b, c, d, e, f);

	return result < 0 ? -errno : result;
#endif
}
