/*===- schur.c - Schur forms of Hessenberg matrices ----------------- C11 -===*
 * SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * QR steps, shifted by eigenvalues of the last 2 × 2 block, until subdiagonal
 * elements vanish from the bottom up: single steps of rotations for complex
 * matrices, Francis' double steps of reflectors for real ones, which stay real.
 * Deflation, shifts and the standard form of 2 × 2 blocks are LAPACK's, so that
 * eigenvalues come in its order.
 *===----------------------------------------------------------------------===*/
#include "runtime/kernels/schur.h"

#include "runtime/kernels/reflectors.h"

#include <float.h>

enum { MOST_STEPS = 30, EXCEPTIONAL = 10 };

/* Whether h(k, k - 1) can be taken for 0, by sizes of elements. */
static bool negligible(double below, double above, double here, double before,
                       double difference, double neighbours) {
  const double tiny = DBL_MIN / DBL_EPSILON;
  if (below <= tiny)
    return true;
  double sum = here + before == 0 ? neighbours : here + before;
  if (below > DBL_EPSILON * sum)
    return false;
  double ab = fmax(below, above), ba = fmin(below, above);
  double aa = fmax(here, difference), bb = fmin(here, difference), s = aa + ab;
  return ba * (ab / s) <= fmax(tiny, DBL_EPSILON * (bb * (aa / s)));
}

/*===- Real ---------------------------------------------------------------===*/

#define H(i, j) h[(i) + (j) * n]

static int64_t split_d(int64_t n, int64_t lo, int64_t hi, int64_t i,
                       const double *h) {
  int64_t k = i;
  for (; k > lo; --k) {
    double neighbours = 0;
    if (k - 2 >= lo)
      neighbours += fabs(H(k - 1, k - 2));
    if (k + 1 <= hi)
      neighbours += fabs(H(k + 1, k));
    if (negligible(fabs(H(k, k - 1)), fabs(H(k - 1, k)), fabs(H(k, k)),
                   fabs(H(k - 1, k - 1)), fabs(H(k - 1, k - 1) - H(k, k)),
                   neighbours))
      break;
  }
  return k;
}

/* Two shifts: real parts, imaginary parts. */
struct shifts {
  double re1, im1, re2, im2;
};

static struct shifts shifts_of(double h11, double h12, double h21, double h22) {
  struct shifts r = {0, 0, 0, 0};
  double s = fabs(h11) + fabs(h12) + fabs(h21) + fabs(h22);
  if (s == 0)
    return r;
  h11 /= s, h12 /= s, h21 /= s, h22 /= s;
  double half = (h11 + h22) / 2;
  double det = (h11 - half) * (h22 - half) - h12 * h21;
  double root = sqrt(fabs(det));
  if (det >= 0) {
    r.re1 = r.re2 = half * s;
    r.im1 = root * s;
    r.im2 = -r.im1;
  } else {
    /* Twice the one that is nearer to the last element. */
    double a = half + root, b = half - root;
    r.re1 = r.re2 = (fabs(a - h22) <= fabs(b - h22) ? a : b) * s;
  }
  return r;
}

/* The first column of (H - s1) (H - s2) in rows m … m + 2, scaled. */
static void first_column(int64_t n, const double *h, int64_t m, struct shifts s,
                         double *v) {
  double below = fabs(H(m + 1, m));
  double size = fabs(H(m, m) - s.re2) + fabs(s.im2) + below;
  below = H(m + 1, m) / size;
  v[0] = below * H(m, m + 1) + (H(m, m) - s.re1) * ((H(m, m) - s.re2) / size) -
         s.im1 * (s.im2 / size);
  v[1] = below * (H(m, m) + H(m + 1, m + 1) - s.re1 - s.re2);
  v[2] = below * H(m + 2, m + 1);
  size = fabs(v[0]) + fabs(v[1]) + fabs(v[2]);
  for (int64_t q = 0; q < 3; ++q)
    v[q] /= size;
}

/* The reflector (1, v[1], v[2]), tau on `count` of the rows from k on, columns
 * k …, and on the columns of h and z. */
static void apply(int64_t n, double *h, double *z, int64_t k, int64_t i,
                  int64_t size, const double *v, double tau) {
  int64_t last = k + 3 < i ? k + 3 : i;
  for (int64_t j = k; j < n; ++j) {
    double sum = H(k, j);
    for (int64_t q = 1; q < size; ++q)
      sum += v[q] * H(k + q, j);
    H(k, j) -= sum * tau;
    for (int64_t q = 1; q < size; ++q)
      H(k + q, j) -= sum * tau * v[q];
  }
  for (int64_t turn = 0; turn < 2; ++turn) {
    double *columns = (turn ? z : h) + k * n;
    for (int64_t j = 0; j < (turn ? n : last + 1); ++j) {
      double sum = columns[j];
      for (int64_t q = 1; q < size; ++q)
        sum += v[q] * columns[j + q * n];
      columns[j] -= sum * tau;
      for (int64_t q = 1; q < size; ++q)
        columns[j + q * n] -= sum * tau * v[q];
    }
  }
}

static void double_step(int64_t n, double *h, double *z, int64_t l, int64_t i,
                        struct shifts s) {
  double v[3];
  int64_t m = i - 2;
  for (;; --m) {
    first_column(n, h, m, s, v);
    if (m == l)
      break;
    double off = fabs(H(m, m - 1)) * (fabs(v[1]) + fabs(v[2]));
    double on = fabs(v[0]) *
                (fabs(H(m - 1, m - 1)) + fabs(H(m, m)) + fabs(H(m + 1, m + 1)));
    if (off <= DBL_EPSILON * on)
      break;
  }
  for (int64_t k = m; k < i; ++k) {
    int64_t size = i - k + 1 < 3 ? i - k + 1 : 3;
    if (k > m)
      for (int64_t q = 0; q < size; ++q)
        v[q] = H(k + q, k - 1);
    double tau = ft_reflector_d(size, v, v + 1, 1);
    if (k > m) {
      H(k, k - 1) = v[0];
      for (int64_t q = 1; q < size; ++q)
        H(k + q, k - 1) = 0;
    } else if (m > l) {
      H(k, k - 1) *= 1 - tau;
    }
    apply(n, h, z, k, i, size, v, tau);
  }
}

/* The rotation (cs, sn) that makes a 2 × 2 block triangular, if its eigenvalues
 * are real, or else its diagonal elements equal. Whether they are real. */
static bool standard_form(double a, double b, double c, double d, double *cs,
                          double *sn) {
  *cs = 1;
  *sn = 0;
  if (c == 0)
    return true;
  if (b == 0) {
    *cs = 0;
    *sn = 1;
    return true;
  }
  if (a - d == 0 && signbit(b) != signbit(c))
    return false;
  double difference = a - d, p = 0.5 * difference;
  double most = fmax(fabs(b), fabs(c));
  double least = fmin(fabs(b), fabs(c)) * copysign(1, b) * copysign(1, c);
  double scale = fmax(fabs(p), most);
  double z = (p / scale) * p + (most / scale) * least;
  if (z >= 4 * DBL_EPSILON) {
    z = p + copysign(sqrt(scale) * sqrt(z), p);
    double r = hypot(c, z);
    *cs = z / r;
    *sn = c / r;
    return true;
  }
  double sigma = b + c, r = hypot(sigma, difference);
  *cs = sqrt(0.5 * (1 + fabs(sigma) / r));
  *sn = -(p / (r * *cs)) * copysign(1, sigma);
  double aa = a * *cs + b * *sn, bb = -a * *sn + b * *cs;
  double cc = c * *cs + d * *sn, dd = -c * *sn + d * *cs;
  b = bb * *cs + dd * *sn;
  c = -aa * *sn + cc * *cs;
  if (c == 0)
    return true;
  if (b != 0 && signbit(b) != signbit(c))
    return false;
  /* Nearly equal and real after all. */
  double cs1 = 0, sn1 = 1;
  if (b != 0) {
    double by_b = sqrt(fabs(b)), by_c = sqrt(fabs(c));
    double whole = 1 / sqrt(fabs(b + c));
    cs1 = by_b * whole;
    sn1 = by_c * whole;
  }
  double kept = *cs * cs1 - *sn * sn1;
  *sn = *cs * sn1 + *sn * cs1;
  *cs = kept;
  return true;
}

static void rotate(int64_t count, double *x, double *y, int64_t step, double cs,
                   double sn) {
  for (int64_t i = 0; i < count; ++i) {
    double kept = x[i * step];
    x[i * step] = cs * kept + sn * y[i * step];
    y[i * step] = cs * y[i * step] - sn * kept;
  }
}

/* Rows and columns i - 1 and i, a block that has split off. */
static void finish_block(int64_t n, double *h, double *z, int64_t i) {
  double cs, sn;
  bool real = standard_form(H(i - 1, i - 1), H(i - 1, i), H(i, i - 1), H(i, i),
                            &cs, &sn);
  rotate(n - i + 1, &H(i - 1, i - 1), &H(i, i - 1), n, cs, sn);
  rotate(i + 1, &H(0, i - 1), &H(0, i), 1, cs, sn);
  rotate(n, z + (i - 1) * n, z + i * n, 1, cs, sn);
  if (real)
    H(i, i - 1) = 0;
  else
    H(i - 1, i - 1) = H(i, i) = 0.5 * (H(i - 1, i - 1) + H(i, i));
}

int64_t ft_schur_d(int64_t n, int64_t lo, int64_t hi, double *h, double *z) {
  int64_t most = MOST_STEPS * (hi - lo + 1 > 10 ? hi - lo + 1 : 10), steps = 0;
  for (int64_t i = hi; i >= lo;) {
    int64_t l = i;
    for (int64_t since = 1;; ++since) {
      l = split_d(n, lo, hi, i, h);
      if (l > lo)
        H(l, l - 1) = 0;
      if (l >= i - 1)
        break;
      if (++steps > most)
        return i + 1;
      struct shifts s;
      if (since % (2 * EXCEPTIONAL) == 0) {
        double size = fabs(H(i, i - 1)) + fabs(H(i - 1, i - 2));
        double d = 0.75 * size + H(i, i);
        s = shifts_of(d, -0.4375 * size, size, d);
      } else if (since % EXCEPTIONAL == 0) {
        double size = fabs(H(l + 1, l)) + fabs(H(l + 2, l + 1));
        double d = 0.75 * size + H(l, l);
        s = shifts_of(d, -0.4375 * size, size, d);
      } else {
        s = shifts_of(H(i - 1, i - 1), H(i - 1, i), H(i, i - 1), H(i, i));
      }
      double_step(n, h, z, l, i, s);
    }
    if (l < i)
      finish_block(n, h, z, i);
    i = l - 1;
  }
  return 0;
}

/*===- Complex ------------------------------------------------------------===*/

static double size1(ft_c128 x) { return fabs(creal(x)) + fabs(cimag(x)); }

static int64_t split_z(int64_t n, int64_t lo, int64_t hi, int64_t i,
                       const ft_c128 *h) {
  int64_t k = i;
  for (; k > lo; --k) {
    double neighbours = 0;
    if (k - 2 >= lo)
      neighbours += size1(H(k - 1, k - 2));
    if (k + 1 <= hi)
      neighbours += size1(H(k + 1, k));
    if (negligible(size1(H(k, k - 1)), size1(H(k - 1, k)), size1(H(k, k)),
                   size1(H(k - 1, k - 1)), size1(H(k - 1, k - 1) - H(k, k)),
                   neighbours))
      break;
  }
  return k;
}

/* A square root with a real part of at least 0. */
static ft_c128 root_of(ft_c128 x) {
  double a = creal(x), b = cimag(x), r = hypot(a, b);
  if (r == 0)
    return 0;
  double s = sqrt((r + fabs(a)) / 2);
  return a >= 0 ? ft_complex(s, b / (2 * s))
                : ft_complex(fabs(b) / (2 * s), copysign(s, b));
}

/* The eigenvalue of the last block that is nearer to its last element. */
static ft_c128 shift_z(ft_c128 a, ft_c128 b, ft_c128 c, ft_c128 d) {
  double size = size1(a) + size1(b) + size1(c) + size1(d);
  if (size == 0)
    return 0;
  ft_c128 half = 0.5 * (a - d) / size, bc = (b / size) * (c / size);
  if (bc == 0)
    return d;
  ft_c128 root = root_of(half * half + bc);
  if (creal(half) * creal(root) + cimag(half) * cimag(root) < 0)
    root = -root;
  return d - size * ft_complex_div(bc, half + root);
}

int64_t ft_schur_z(int64_t n, int64_t lo, int64_t hi, ft_c128 *h, ft_c128 *z) {
  int64_t most = MOST_STEPS * (hi - lo + 1 > 10 ? hi - lo + 1 : 10), steps = 0;
  for (int64_t i = hi; i >= lo;) {
    int64_t l = i;
    for (int64_t since = 1;; ++since) {
      l = split_z(n, lo, hi, i, h);
      if (l > lo)
        H(l, l - 1) = 0;
      if (l >= i)
        break;
      if (++steps > most)
        return i + 1;
      ft_c128 shift =
          since % EXCEPTIONAL == 0
              ? 0.75 * size1(H(i, i - 1)) + H(i, i)
              : shift_z(H(i - 1, i - 1), H(i - 1, i), H(i, i - 1), H(i, i));
      /* Rotations of rows k, k + 1 and of the same columns chase the bulge. */
      ft_c128 f = H(l, l) - shift, g = H(l + 1, l);
      for (int64_t k = l; k < i; ++k) {
        if (k > l) {
          f = H(k, k - 1);
          g = H(k + 1, k - 1);
        }
        double r = hypot(hypot(creal(f), cimag(f)), hypot(creal(g), cimag(g)));
        ft_c128 c = r == 0 ? 1 : f / r, s = r == 0 ? 0 : g / r;
        if (k > l) {
          H(k, k - 1) = r;
          H(k + 1, k - 1) = 0;
        }
        for (int64_t j = k; j < n; ++j) {
          ft_c128 x = H(k, j), y = H(k + 1, j);
          H(k, j) = conj(c) * x + conj(s) * y;
          H(k + 1, j) = c * y - s * x;
        }
        int64_t last = k + 2 < i ? k + 2 : i;
        for (int64_t turn = 0; turn < 2; ++turn) {
          ft_c128 *p = (turn ? z : h) + k * n, *q = p + n;
          for (int64_t j = 0; j < (turn ? n : last + 1); ++j) {
            ft_c128 x = p[j], y = q[j];
            p[j] = x * c + y * s;
            q[j] = y * conj(c) - x * conj(s);
          }
        }
      }
    }
    i = l - 1;
  }
  return 0;
}
