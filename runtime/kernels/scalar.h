/*===- scalar.h - The element type of an algorithm ------------------ C11 -===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Algorithms are written once, in .inc files, and included twice: with
 * FT_COMPLEX 0 they work on double, with 1 on double complex. T is the element
 * type, FN(name) the name of this instance (name_d, name_z). No include guard:
 * each inclusion defines everything again.
 *===----------------------------------------------------------------------===*/
#undef T
#undef FN
#undef CONJ
#undef REAL
#undef IMAG
#undef ABS
#undef ABS1
#undef NORM2
#undef DIV

#if FT_COMPLEX
#define T double complex
#define FN(name) name##_z
#define CONJ(x) conj(x)
#define REAL(x) creal(x)
#define IMAG(x) cimag(x)
#define ABS(x) hypot(creal(x), cimag(x))
/* What LAPACK compares pivots by. */
#define ABS1(x) (fabs(creal(x)) + fabs(cimag(x)))
#define NORM2(x) (creal(x) * creal(x) + cimag(x) * cimag(x))
#define DIV(x, y) ft_complex_div(x, y)
#else
#define T double
#define FN(name) name##_d
#define CONJ(x) (x)
#define REAL(x) (x)
#define IMAG(x) 0.0
#define ABS(x) fabs(x)
#define ABS1(x) fabs(x)
#define NORM2(x) ((x) * (x))
#define DIV(x, y) ((x) / (y))
#endif
