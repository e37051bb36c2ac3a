/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * Fused multiply-add, lane by lane. VEX calls a function that works with the parts of numbers, a
 * hundred times as slow as the instruction; programs with many of them spent most of their time
 * there. If the tool is built for processors that have the instruction, it is used. Both round
 * once, to nearest.
 */
#include "valgrind/core.h"

#include "pub_tool_basics.h"

void __real_h_generic_calc_MAddF32(Float *result, Float *x, Float *y, Float *z);
void __real_h_generic_calc_MAddF64(Double *result, Double *x, Double *y, Double *z);
void __wrap_h_generic_calc_MAddF32(Float *result, Float *x, Float *y, Float *z);
void __wrap_h_generic_calc_MAddF64(Double *result, Double *x, Double *y, Double *z);

void __wrap_h_generic_calc_MAddF32(Float *result, Float *x, Float *y, Float *z)
{
#ifdef __FMA__
	*result = __builtin_fmaf(*x, *y, *z);
#else
	__real_h_generic_calc_MAddF32(result, x, y, z);
#endif
}

void __wrap_h_generic_calc_MAddF64(Double *result, Double *x, Double *y, Double *z)
{
#ifdef __FMA__
	*result = __builtin_fma(*x, *y, *z);
#else
	__real_h_generic_calc_MAddF64(result, x, y, z);
#endif
}
