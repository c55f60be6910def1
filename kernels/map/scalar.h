// SPDX-License-Identifier: Apache-2.0
// The arithmetic that C and CUDA C do not define the way arrays need it, once for both: this text
// is compiled into the cpu's vector code and pasted in front of every generated kernel. So: no
// includes, no C-only and no CUDA-only words. PS_FN is "static inline" or "static __device__".
//
// Integers wrap. x // 0 and x % 0 are 0. // floors and % takes the divisor's sign, for integers
// as for floats (numpy's npy_divmod, which Python's float_divmod follows).

PS_FN unsigned char ps_ones(unsigned long long x)
{
    x -= (x >> 1) & 0x5555555555555555ull;
    x = (x & 0x3333333333333333ull) + ((x >> 2) & 0x3333333333333333ull);
    x = (x + (x >> 4)) & 0x0f0f0f0f0f0f0f0full;
    return (unsigned char)((x * 0x0101010101010101ull) >> 56);
}

#define PS_UNSIGNED_OPS(T, N)                                                                      \
    PS_FN T ps_bitand_##N(T a, T b)                                                                \
    {                                                                                              \
        return (T)(a & b);                                                                         \
    }                                                                                              \
    PS_FN T ps_bitor_##N(T a, T b)                                                                 \
    {                                                                                              \
        return (T)(a | b);                                                                         \
    }                                                                                              \
    PS_FN T ps_bitxor_##N(T a, T b)                                                                \
    {                                                                                              \
        return (T)(a ^ b);                                                                         \
    }                                                                                              \
    PS_FN T ps_bitnot_##N(T a)                                                                     \
    {                                                                                              \
        return (T)~a;                                                                              \
    }                                                                                              \
    /* A count that is negative or as large as the width moves every bit out. */                   \
    PS_FN T ps_shl_##N(T a, T b)                                                                   \
    {                                                                                              \
        return (unsigned long long)b >= 8 * sizeof(T) ? (T)0 : (T)((unsigned long long)a << b);    \
    }                                                                                              \
    PS_FN T ps_shr_##N(T a, T b)                                                                   \
    {                                                                                              \
        return (unsigned long long)b >= 8 * sizeof(T) ? (T)0 : (T)(a >> b);                        \
    }                                                                                              \
    PS_FN unsigned char ps_bit_count_##N(T a)                                                      \
    {                                                                                              \
        return ps_ones(a);                                                                         \
    }                                                                                              \
    PS_FN T ps_fmod_##N(T a, T b)                                                                  \
    {                                                                                              \
        return b == 0 ? (T)0 : (T)(a % b);                                                         \
    }                                                                                              \
    PS_FN T ps_add_##N(T a, T b)                                                                   \
    {                                                                                              \
        return (T)(a + b);                                                                         \
    }                                                                                              \
    PS_FN T ps_sub_##N(T a, T b)                                                                   \
    {                                                                                              \
        return (T)(a - b);                                                                         \
    }                                                                                              \
    PS_FN T ps_mul_##N(T a, T b)                                                                   \
    {                                                                                              \
        return (T)((unsigned long long)a * b);                                                     \
    }                                                                                              \
    PS_FN T ps_neg_##N(T a)                                                                        \
    {                                                                                              \
        return (T)(0 - a);                                                                         \
    }                                                                                              \
    PS_FN T ps_abs_##N(T a)                                                                        \
    {                                                                                              \
        return a;                                                                                  \
    }                                                                                              \
    PS_FN T ps_sign_##N(T a)                                                                       \
    {                                                                                              \
        return (T)(a > 0);                                                                         \
    }                                                                                              \
    PS_FN T ps_floordiv_##N(T a, T b)                                                              \
    {                                                                                              \
        return b == 0 ? (T)0 : (T)(a / b);                                                         \
    }                                                                                              \
    PS_FN T ps_mod_##N(T a, T b)                                                                   \
    {                                                                                              \
        return b == 0 ? (T)0 : (T)(a % b);                                                         \
    }                                                                                              \
    PS_FN T ps_pow_##N(T a, T b)                                                                   \
    {                                                                                              \
        unsigned long long r = 1, x = a;                                                           \
        for (; b > 0; b = (T)(b >> 1)) {                                                           \
            r = b & 1 ? r * x : r;                                                                 \
            x *= x;                                                                                \
        }                                                                                          \
        return (T)r;                                                                               \
    }

// U is the unsigned twin: wrapping is computed there, where C defines it.
#define PS_SIGNED_OPS(T, U, N)                                                                     \
    PS_FN T ps_bitand_##N(T a, T b)                                                                \
    {                                                                                              \
        return (T)(a & b);                                                                         \
    }                                                                                              \
    PS_FN T ps_bitor_##N(T a, T b)                                                                 \
    {                                                                                              \
        return (T)(a | b);                                                                         \
    }                                                                                              \
    PS_FN T ps_bitxor_##N(T a, T b)                                                                \
    {                                                                                              \
        return (T)(a ^ b);                                                                         \
    }                                                                                              \
    PS_FN T ps_bitnot_##N(T a)                                                                     \
    {                                                                                              \
        return (T)~a;                                                                              \
    }                                                                                              \
    /* A count that is negative or as large as the width moves every bit out. */                   \
    PS_FN T ps_shl_##N(T a, T b)                                                                   \
    {                                                                                              \
        return (unsigned long long)b >= 8 * sizeof(T) ? (T)0 : (T)((unsigned long long)a << b);    \
    }                                                                                              \
    PS_FN T ps_shr_##N(T a, T b)                                                                   \
    {                                                                                              \
        return (unsigned long long)b >= 8 * sizeof(T) ? (T)(a < 0 ? -1 : 0) : (T)(a >> b);         \
    }                                                                                              \
    /* Of the absolute value, as in Python and NumPy. */                                           \
    PS_FN unsigned char ps_bit_count_##N(T a)                                                      \
    {                                                                                              \
        return ps_ones(a < 0 ? 0 - (unsigned long long)a : (unsigned long long)a);                 \
    }                                                                                              \
    /* C's remainder: the sign of a. */                                                            \
    PS_FN T ps_fmod_##N(T a, T b)                                                                  \
    {                                                                                              \
        return b == 0 || b == -1 ? (T)0 : (T)(a % b);                                              \
    }                                                                                              \
    PS_FN T ps_add_##N(T a, T b)                                                                   \
    {                                                                                              \
        return (T)((unsigned long long)a + (unsigned long long)b);                                 \
    }                                                                                              \
    PS_FN T ps_sub_##N(T a, T b)                                                                   \
    {                                                                                              \
        return (T)((unsigned long long)a - (unsigned long long)b);                                 \
    }                                                                                              \
    PS_FN T ps_mul_##N(T a, T b)                                                                   \
    {                                                                                              \
        return (T)((unsigned long long)a * (unsigned long long)b);                                 \
    }                                                                                              \
    PS_FN T ps_neg_##N(T a)                                                                        \
    {                                                                                              \
        return (T)(0 - (unsigned long long)a);                                                     \
    }                                                                                              \
    PS_FN T ps_abs_##N(T a)                                                                        \
    {                                                                                              \
        return a < 0 ? (T)(0 - (unsigned long long)a) : a;                                         \
    }                                                                                              \
    PS_FN T ps_sign_##N(T a)                                                                       \
    {                                                                                              \
        return (T)((a > 0) - (a < 0));                                                             \
    }                                                                                              \
    PS_FN T ps_floordiv_##N(T a, T b)                                                              \
    {                                                                                              \
        if (b == 0)                                                                                \
            return 0;                                                                              \
        if (b == -1)                                                                               \
            return (T)(0 - (unsigned long long)a);                                                 \
        return (T)(a / b - ((a % b != 0) & ((a < 0) != (b < 0))));                                 \
    }                                                                                              \
    PS_FN T ps_mod_##N(T a, T b)                                                                   \
    {                                                                                              \
        if (b == 0 || b == -1)                                                                     \
            return 0;                                                                              \
        T m = (T)(a % b);                                                                          \
        return (T)(m != 0 && (m < 0) != (b < 0) ? m + b : m);                                      \
    }                                                                                              \
    /* a ** -n is the integer part of the real power: 0, except for 1 and -1. */                   \
    PS_FN T ps_pow_##N(T a, T b)                                                                   \
    {                                                                                              \
        unsigned long long r = 1, x = (unsigned long long)a;                                       \
        if (b < 0)                                                                                 \
            return (T)(a == 1 ? 1 : a == -1 ? (b & 1 ? -1 : 1) : 0);                               \
        for (U n = (U)b; n > 0; n = (U)(n >> 1)) {                                                 \
            r = n & 1 ? r * x : r;                                                                 \
            x *= x;                                                                                \
        }                                                                                          \
        return (T)r;                                                                               \
    }

#define PS_ORDER_OPS(T, N)                                                                         \
    PS_FN T ps_min_##N(T a, T b)                                                                   \
    {                                                                                              \
        return a < b ? a : b;                                                                      \
    }                                                                                              \
    PS_FN T ps_max_##N(T a, T b)                                                                   \
    {                                                                                              \
        return a > b ? a : b;                                                                      \
    }                                                                                              \
    PS_FN T ps_fmin_##N(T a, T b)                                                                  \
    {                                                                                              \
        return a < b ? a : b;                                                                      \
    }                                                                                              \
    PS_FN T ps_fmax_##N(T a, T b)                                                                  \
    {                                                                                              \
        return a > b ? a : b;                                                                      \
    }

PS_UNSIGNED_OPS(unsigned char, u8)
PS_UNSIGNED_OPS(unsigned short, u16)
PS_UNSIGNED_OPS(unsigned int, u32)
PS_UNSIGNED_OPS(unsigned long long, u64)
PS_SIGNED_OPS(signed char, unsigned char, i8)
PS_SIGNED_OPS(short, unsigned short, i16)
PS_SIGNED_OPS(int, unsigned int, i32)
PS_SIGNED_OPS(long long, unsigned long long, i64)
PS_ORDER_OPS(unsigned char, u8)
PS_ORDER_OPS(unsigned short, u16)
PS_ORDER_OPS(unsigned int, u32)
PS_ORDER_OPS(unsigned long long, u64)
PS_ORDER_OPS(signed char, i8)
PS_ORDER_OPS(short, i16)
PS_ORDER_OPS(int, i32)
PS_ORDER_OPS(long long, i64)

// F is the suffix of the C library's functions of this type.
#define PS_FLOAT_OPS(T, N, F)                                                                      \
    PS_FN T ps_add_##N(T a, T b)                                                                   \
    {                                                                                              \
        return a + b;                                                                              \
    }                                                                                              \
    PS_FN T ps_sub_##N(T a, T b)                                                                   \
    {                                                                                              \
        return a - b;                                                                              \
    }                                                                                              \
    PS_FN T ps_mul_##N(T a, T b)                                                                   \
    {                                                                                              \
        return a * b;                                                                              \
    }                                                                                              \
    PS_FN T ps_div_##N(T a, T b)                                                                   \
    {                                                                                              \
        return a / b;                                                                              \
    }                                                                                              \
    PS_FN T ps_neg_##N(T a)                                                                        \
    {                                                                                              \
        return -a;                                                                                 \
    }                                                                                              \
    PS_FN T ps_abs_##N(T a)                                                                        \
    {                                                                                              \
        return fabs##F(a);                                                                         \
    }                                                                                              \
    PS_FN T ps_sign_##N(T a)                                                                       \
    {                                                                                              \
        return a > 0 ? (T)1 : a < 0 ? (T)-1 : a == 0 ? (T)0 : a;                                   \
    }                                                                                              \
    /* NaN wins, as in numpy.minimum. */                                                           \
    PS_FN T ps_min_##N(T a, T b)                                                                   \
    {                                                                                              \
        return a < b || a != a ? a : b;                                                            \
    }                                                                                              \
    PS_FN T ps_max_##N(T a, T b)                                                                   \
    {                                                                                              \
        return a > b || a != a ? a : b;                                                            \
    }                                                                                              \
    /* The other one wins over NaN. */                                                             \
    PS_FN T ps_fmin_##N(T a, T b)                                                                  \
    {                                                                                              \
        return a <= b || b != b ? a : b;                                                           \
    }                                                                                              \
    PS_FN T ps_fmax_##N(T a, T b)                                                                  \
    {                                                                                              \
        return a >= b || b != b ? a : b;                                                           \
    }                                                                                              \
    PS_FN T ps_heaviside_##N(T a, T b)                                                             \
    {                                                                                              \
        return a < 0 ? (T)0 : a > 0 ? (T)1 : a == 0 ? b : a;                                       \
    }                                                                                              \
    PS_FN T ps_mod_##N(T a, T b)                                                                   \
    {                                                                                              \
        T m = fmod##F(a, b);                                                                       \
        if (b == 0)                                                                                \
            return m; /* NaN */                                                                    \
        if (m == 0)                                                                                \
            return copysign##F((T)0, b);                                                           \
        return (b < 0) != (m < 0) ? m + b : m;                                                     \
    }                                                                                              \
    PS_FN T ps_floordiv_##N(T a, T b)                                                              \
    {                                                                                              \
        T m = fmod##F(a, b);                                                                       \
        if (b == 0)                                                                                \
            return a / b;                                                                          \
        T q = (a - m) / b;                                                                         \
        if (m != 0 && (b < 0) != (m < 0))                                                          \
            q -= 1;                                                                                \
        if (q == 0)                                                                                \
            return copysign##F((T)0, a / b);                                                       \
        T whole = floor##F(q);                                                                     \
        return q - whole > (T)0.5 ? whole + 1 : whole;                                             \
    }                                                                                              \
    PS_FN T ps_degrees_##N(T a)                                                                    \
    {                                                                                              \
        return a * ((T)180 / (T)3.141592653589793);                                                \
    }                                                                                              \
    PS_FN T ps_radians_##N(T a)                                                                    \
    {                                                                                              \
        return a * ((T)3.141592653589793 / (T)180);                                                \
    }                                                                                              \
    PS_FN unsigned char ps_isnan_##N(T a)                                                          \
    {                                                                                              \
        return a != a;                                                                             \
    }                                                                                              \
    PS_FN unsigned char ps_isinf_##N(T a)                                                          \
    {                                                                                              \
        return a - a != a - a && a == a;                                                           \
    }                                                                                              \
    PS_FN unsigned char ps_signbit_##N(T a)                                                        \
    {                                                                                              \
        return copysign##F((T)1, a) < 0;                                                           \
    }                                                                                              \
    PS_FN unsigned char ps_isfinite_##N(T a)                                                       \
    {                                                                                              \
        return a - a == a - a;                                                                     \
    }

PS_FLOAT_OPS(float, f32, f)
PS_FLOAT_OPS(double, f64, )

// Functions of the C library, under their names there; floats have an f behind.
#define PS_LIBRARY1(NAME, CALL)                                                                    \
    PS_FN float ps_##NAME##_f32(float a)                                                           \
    {                                                                                              \
        return CALL##f(a);                                                                         \
    }                                                                                              \
    PS_FN double ps_##NAME##_f64(double a)                                                         \
    {                                                                                              \
        return CALL(a);                                                                            \
    }
#define PS_LIBRARY2(NAME)                                                                          \
    PS_FN float ps_##NAME##_f32(float a, float b)                                                  \
    {                                                                                              \
        return NAME##f(a, b);                                                                      \
    }                                                                                              \
    PS_FN double ps_##NAME##_f64(double a, double b)                                               \
    {                                                                                              \
        return NAME(a, b);                                                                         \
    }
PS_LIBRARY1(floor, floor)
PS_LIBRARY1(ceil, ceil)
PS_LIBRARY1(round, rint)
PS_LIBRARY1(trunc, trunc)
PS_LIBRARY1(sqrt, sqrt)
PS_LIBRARY1(cbrt, cbrt)
PS_LIBRARY1(exp, exp)
PS_LIBRARY1(exp2, exp2)
PS_LIBRARY1(expm1, expm1)
PS_LIBRARY1(log, log)
PS_LIBRARY1(log10, log10)
PS_LIBRARY1(log2, log2)
PS_LIBRARY1(log1p, log1p)
PS_LIBRARY1(sin, sin)
PS_LIBRARY1(cos, cos)
PS_LIBRARY1(tan, tan)
PS_LIBRARY1(asin, asin)
PS_LIBRARY1(acos, acos)
PS_LIBRARY1(atan, atan)
PS_LIBRARY1(sinh, sinh)
PS_LIBRARY1(cosh, cosh)
PS_LIBRARY1(tanh, tanh)
PS_LIBRARY1(asinh, asinh)
PS_LIBRARY1(acosh, acosh)
PS_LIBRARY1(atanh, atanh)
PS_LIBRARY1(erf, erf)
PS_LIBRARY1(erfc, erfc)
PS_LIBRARY1(gamma, tgamma)
PS_LIBRARY2(pow)
PS_LIBRARY2(atan2)
PS_LIBRARY2(hypot)
PS_LIBRARY2(copysign)
PS_LIBRARY2(nextafter)
PS_LIBRARY2(fmod)

PS_FN float ps_fma_f32(float a, float b, float c)
{
    return fmaf(a, b, c);
}
PS_FN double ps_fma_f64(double a, double b, double c)
{
    return fma(a, b, c);
}

// The C library's plain lgamma leaves the sign in a global variable, which threads would share.
#ifdef __CUDACC_RTC__
#define PS_LGAMMA(CALL, a) CALL(a)
#else
#define PS_LGAMMA(CALL, a) CALL##_r(a, &sign)
#endif
PS_FN float ps_lgamma_f32(float a)
{
    int sign;
    (void)sign;
    return PS_LGAMMA(lgammaf, a);
}
PS_FN double ps_lgamma_f64(double a)
{
    int sign;
    (void)sign;
    return PS_LGAMMA(lgamma, a);
}

// Three-way comparison of an integer and a number it shares no dtype with: -1, 0, 1, or 2 when
// unordered (NaN). The double is taken apart at its integer part, which is exact.
PS_FN signed char ps_cmp_iu(long long a, unsigned long long b)
{
    unsigned long long u = (unsigned long long)a;
    return (signed char)(a < 0 || u < b ? -1 : u > b);
}
PS_FN signed char ps_cmp_if(long long a, double b)
{
    if (b != b)
        return 2;
    if (b >= 9223372036854775808.0)
        return -1;
    if (b < -9223372036854775808.0)
        return 1;
    double whole = floor(b);
    long long w = (long long)whole;
    return (signed char)(a < w ? -1 : a > w ? 1 : b > whole ? -1 : 0);
}
PS_FN signed char ps_cmp_uf(unsigned long long a, double b)
{
    if (b != b)
        return 2;
    if (b >= 18446744073709551616.0)
        return -1;
    if (b < 0)
        return 1;
    double whole = floor(b);
    unsigned long long w = (unsigned long long)whole;
    return (signed char)(a < w ? -1 : a > w ? 1 : b > whole ? -1 : 0);
}

// Linear between (x0, y0) and (x1, y1), as numpy.interp computes it; x0 <= x < x1.
PS_FN double ps_between(double x, double x0, double x1, double y0, double y1)
{
    if (x == x0)
        return y0;
    double slope = (y1 - y0) / (x1 - x0);
    double y = slope * (x - x0) + y0;
    if (y == y)
        return y;
    y = slope * (x - x1) + y1;
    return y != y && y0 == y1 ? y0 : y;
}

// Float to integer: toward zero, clamped to what the integer holds, NaN gives 0.
#define PS_FLOAT_TO_INT(T, N, LOW, HIGH, MIN, MAX)                                                 \
    PS_FN T ps_to_##N(double x)                                                                    \
    {                                                                                              \
        return x != x ? (T)0 : x <= LOW ? (T)(MIN) : x >= HIGH ? (T)(MAX) : (T)x;                  \
    }
PS_FLOAT_TO_INT(signed char, i8, -128.0, 127.0, -128, 127)
PS_FLOAT_TO_INT(short, i16, -32768.0, 32767.0, -32768, 32767)
PS_FLOAT_TO_INT(int, i32, -2147483648.0, 2147483647.0, -2147483647 - 1, 2147483647)
PS_FLOAT_TO_INT(long long, i64, -9223372036854775808.0, 9223372036854775808.0,
                -9223372036854775807LL - 1, 9223372036854775807LL)
PS_FLOAT_TO_INT(unsigned char, u8, 0.0, 255.0, 0, 255)
PS_FLOAT_TO_INT(unsigned short, u16, 0.0, 65535.0, 0, 65535)
PS_FLOAT_TO_INT(unsigned int, u32, 0.0, 4294967295.0, 0, 4294967295u)
PS_FLOAT_TO_INT(unsigned long long, u64, 0.0, 18446744073709551616.0, 0, 18446744073709551615ull)
