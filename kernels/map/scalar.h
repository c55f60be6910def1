// SPDX-License-Identifier: Apache-2.0
// The arithmetic that C and CUDA C do not define the way arrays need it, once for both: this text
// is compiled into the cpu's vector code and pasted in front of every generated kernel. So: no
// includes, no C-only and no CUDA-only words. PS_FN is "static inline" or "static __device__".
//
// Integers wrap. x // 0 and x % 0 are 0. // floors and % takes the divisor's sign, for integers
// as for floats (numpy's npy_divmod, which Python's float_divmod follows).

#define PS_UNSIGNED_OPS(T, N)                                                                      \
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
    PS_FN T ps_pow_##N(T a, T b)                                                                   \
    {                                                                                              \
        return pow##F(a, b);                                                                       \
    }                                                                                              \
    PS_FN T ps_floor_##N(T a)                                                                      \
    {                                                                                              \
        return floor##F(a);                                                                        \
    }                                                                                              \
    PS_FN T ps_ceil_##N(T a)                                                                       \
    {                                                                                              \
        return ceil##F(a);                                                                         \
    }                                                                                              \
    PS_FN T ps_round_##N(T a)                                                                      \
    {                                                                                              \
        return rint##F(a);                                                                         \
    }                                                                                              \
    PS_FN T ps_trunc_##N(T a)                                                                      \
    {                                                                                              \
        return trunc##F(a);                                                                        \
    }                                                                                              \
    PS_FN T ps_sqrt_##N(T a)                                                                       \
    {                                                                                              \
        return sqrt##F(a);                                                                         \
    }                                                                                              \
    PS_FN T ps_exp_##N(T a)                                                                        \
    {                                                                                              \
        return exp##F(a);                                                                          \
    }                                                                                              \
    PS_FN T ps_expm1_##N(T a)                                                                      \
    {                                                                                              \
        return expm1##F(a);                                                                        \
    }                                                                                              \
    PS_FN T ps_log_##N(T a)                                                                        \
    {                                                                                              \
        return log##F(a);                                                                          \
    }                                                                                              \
    PS_FN T ps_log10_##N(T a)                                                                      \
    {                                                                                              \
        return log10##F(a);                                                                        \
    }                                                                                              \
    PS_FN T ps_log2_##N(T a)                                                                       \
    {                                                                                              \
        return log2##F(a);                                                                         \
    }                                                                                              \
    PS_FN T ps_log1p_##N(T a)                                                                      \
    {                                                                                              \
        return log1p##F(a);                                                                        \
    }                                                                                              \
    PS_FN T ps_sin_##N(T a)                                                                        \
    {                                                                                              \
        return sin##F(a);                                                                          \
    }                                                                                              \
    PS_FN T ps_cos_##N(T a)                                                                        \
    {                                                                                              \
        return cos##F(a);                                                                          \
    }                                                                                              \
    PS_FN T ps_tan_##N(T a)                                                                        \
    {                                                                                              \
        return tan##F(a);                                                                          \
    }                                                                                              \
    PS_FN T ps_asin_##N(T a)                                                                       \
    {                                                                                              \
        return asin##F(a);                                                                         \
    }                                                                                              \
    PS_FN T ps_acos_##N(T a)                                                                       \
    {                                                                                              \
        return acos##F(a);                                                                         \
    }                                                                                              \
    PS_FN T ps_atan_##N(T a)                                                                       \
    {                                                                                              \
        return atan##F(a);                                                                         \
    }                                                                                              \
    PS_FN T ps_sinh_##N(T a)                                                                       \
    {                                                                                              \
        return sinh##F(a);                                                                         \
    }                                                                                              \
    PS_FN T ps_cosh_##N(T a)                                                                       \
    {                                                                                              \
        return cosh##F(a);                                                                         \
    }                                                                                              \
    PS_FN T ps_tanh_##N(T a)                                                                       \
    {                                                                                              \
        return tanh##F(a);                                                                         \
    }                                                                                              \
    PS_FN T ps_atan2_##N(T a, T b)                                                                 \
    {                                                                                              \
        return atan2##F(a, b);                                                                     \
    }                                                                                              \
    PS_FN T ps_hypot_##N(T a, T b)                                                                 \
    {                                                                                              \
        return hypot##F(a, b);                                                                     \
    }                                                                                              \
    PS_FN unsigned char ps_isnan_##N(T a)                                                          \
    {                                                                                              \
        return a != a;                                                                             \
    }                                                                                              \
    PS_FN unsigned char ps_isinf_##N(T a)                                                          \
    {                                                                                              \
        return a - a != a - a && a == a;                                                           \
    }                                                                                              \
    PS_FN unsigned char ps_isfinite_##N(T a)                                                       \
    {                                                                                              \
        return a - a == a - a;                                                                     \
    }

PS_FLOAT_OPS(float, f32, f)
PS_FLOAT_OPS(double, f64, )

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
