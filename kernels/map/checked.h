// SPDX-License-Identifier: Apache-2.0
// The questions that `checked: true` puts to integers. It stands behind scalar.h in every generated
// kernel and obeys the same rules: no includes, no C-only and no CUDA-only words.

// What `checked` asks before an operation: whether the result does not fit the dtype, or there is
// none (x // 0, a shift by a negative count).
#define PS_UNSIGNED_OVER(T, N)                                                                     \
    PS_FN unsigned char ps_over_add_##N(T a, T b)                                                  \
    {                                                                                              \
        return (T)(a + b) < a;                                                                     \
    }                                                                                              \
    PS_FN unsigned char ps_over_sub_##N(T a, T b)                                                  \
    {                                                                                              \
        return a < b;                                                                              \
    }                                                                                              \
    PS_FN unsigned char ps_over_mul_##N(T a, T b)                                                  \
    {                                                                                              \
        T r = ps_mul_##N(a, b);                                                                    \
        return sizeof(T) < 8 ? (unsigned long long)a * b != r : a != 0 && r / a != b;              \
    }                                                                                              \
    PS_FN unsigned char ps_over_neg_##N(T a)                                                       \
    {                                                                                              \
        return a != 0;                                                                             \
    }                                                                                              \
    PS_FN unsigned char ps_over_abs_##N(T a)                                                       \
    {                                                                                              \
        (void)a;                                                                                   \
        return 0;                                                                                  \
    }                                                                                              \
    PS_FN unsigned char ps_over_shl_##N(T a, T b)                                                  \
    {                                                                                              \
        return (unsigned long long)b >= 8 * sizeof(T) ? a != 0                                     \
                                                      : ps_shr_##N(ps_shl_##N(a, b), b) != a;      \
    }                                                                                              \
    PS_FN unsigned char ps_over_shr_##N(T a, T b)                                                  \
    {                                                                                              \
        (void)a;                                                                                   \
        (void)b;                                                                                   \
        return 0;                                                                                  \
    }                                                                                              \
    PS_FN unsigned char ps_over_floordiv_##N(T a, T b)                                             \
    {                                                                                              \
        (void)a;                                                                                   \
        return b == 0;                                                                             \
    }
#define PS_SIGNED_OVER(T, N)                                                                       \
    PS_FN unsigned char ps_over_add_##N(T a, T b)                                                  \
    {                                                                                              \
        T r = ps_add_##N(a, b);                                                                    \
        return ((a ^ r) & (b ^ r)) < 0;                                                            \
    }                                                                                              \
    PS_FN unsigned char ps_over_sub_##N(T a, T b)                                                  \
    {                                                                                              \
        T r = ps_sub_##N(a, b);                                                                    \
        return ((a ^ b) & (a ^ r)) < 0;                                                            \
    }                                                                                              \
    PS_FN unsigned char ps_over_neg_##N(T a)                                                       \
    {                                                                                              \
        return a != 0 && ps_neg_##N(a) == a;                                                       \
    }                                                                                              \
    PS_FN unsigned char ps_over_mul_##N(T a, T b)                                                  \
    {                                                                                              \
        T r = ps_mul_##N(a, b);                                                                    \
        if (sizeof(T) < 8)                                                                         \
            return (long long)a * (long long)(sizeof(T) < 8 ? b : 0) != r;                         \
        if (a == -1)                                                                               \
            return ps_over_neg_##N(b);                                                             \
        return a != 0 && r / a != b;                                                               \
    }                                                                                              \
    PS_FN unsigned char ps_over_abs_##N(T a)                                                       \
    {                                                                                              \
        return ps_abs_##N(a) < 0;                                                                  \
    }                                                                                              \
    PS_FN unsigned char ps_over_shl_##N(T a, T b)                                                  \
    {                                                                                              \
        if (b < 0 || b >= (long long)(8 * sizeof(T)))                                              \
            return b < 0 || a != 0;                                                                \
        return ps_shr_##N(ps_shl_##N(a, b), b) != a;                                               \
    }                                                                                              \
    PS_FN unsigned char ps_over_shr_##N(T a, T b)                                                  \
    {                                                                                              \
        (void)a;                                                                                   \
        return b < 0;                                                                              \
    }                                                                                              \
    PS_FN unsigned char ps_over_floordiv_##N(T a, T b)                                             \
    {                                                                                              \
        return b == 0 || (b == -1 && ps_over_neg_##N(a));                                          \
    }
#define PS_COMMON_OVER(T, U, N)                                                                    \
    PS_FN unsigned char ps_over_mod_##N(T a, T b)                                                  \
    {                                                                                              \
        (void)a;                                                                                   \
        return b == 0;                                                                             \
    }                                                                                              \
    PS_FN unsigned char ps_over_fmod_##N(T a, T b)                                                 \
    {                                                                                              \
        (void)a;                                                                                   \
        return b == 0;                                                                             \
    }                                                                                              \
    /* Each square is needed as long as bits of the exponent are left. */                          \
    PS_FN unsigned char ps_over_pow_##N(T a, T b)                                                  \
    {                                                                                              \
        T r = 1, x = a;                                                                            \
        if (b < 1)                                                                                 \
            return b != 0 && a == 0; /* 1 / 0 */                                                   \
        for (U n = (U)b; n > 0; n = (U)(n >> 1)) {                                                 \
            if ((n & 1) && ps_over_mul_##N(r, x))                                                  \
                return 1;                                                                          \
            r = n & 1 ? ps_mul_##N(r, x) : r;                                                      \
            if (n > 1 && ps_over_mul_##N(x, x))                                                    \
                return 1;                                                                          \
            x = ps_mul_##N(x, x);                                                                  \
        }                                                                                          \
        return 0;                                                                                  \
    }
PS_UNSIGNED_OVER(unsigned char, u8)
PS_UNSIGNED_OVER(unsigned short, u16)
PS_UNSIGNED_OVER(unsigned int, u32)
PS_UNSIGNED_OVER(unsigned long long, u64)
PS_SIGNED_OVER(signed char, i8)
PS_SIGNED_OVER(short, i16)
PS_SIGNED_OVER(int, i32)
PS_SIGNED_OVER(long long, i64)
PS_COMMON_OVER(signed char, unsigned char, i8)
PS_COMMON_OVER(short, unsigned short, i16)
PS_COMMON_OVER(int, unsigned int, i32)
PS_COMMON_OVER(long long, unsigned long long, i64)
PS_COMMON_OVER(unsigned char, unsigned char, u8)
PS_COMMON_OVER(unsigned short, unsigned short, u16)
PS_COMMON_OVER(unsigned int, unsigned int, u32)
PS_COMMON_OVER(unsigned long long, unsigned long long, u64)

// Whether a conversion to integers loses more than a fraction: of signed and unsigned integers, and
// of floats, for which BELOW and ABOVE are the nearest numbers that are lost.
#define PS_LOST(N, SIGNED, UNSIGNED, BELOW, ABOVE)                                                 \
    PS_FN unsigned char ps_lost_##N##_i(long long a)                                               \
    {                                                                                              \
        return SIGNED;                                                                             \
    }                                                                                              \
    PS_FN unsigned char ps_lost_##N##_u(unsigned long long a)                                      \
    {                                                                                              \
        return UNSIGNED;                                                                           \
    }                                                                                              \
    PS_FN unsigned char ps_lost_##N##_f(double a)                                                  \
    {                                                                                              \
        return !(a > BELOW && a < ABOVE);                                                          \
    }
PS_LOST(i8, a<-128 || a> 127, a > 127, -129.0, 128.0)
PS_LOST(u8, a<0 || a> 255, a > 255, -1.0, 256.0)
PS_LOST(i16, a<-32768 || a> 32767, a > 32767, -32769.0, 32768.0)
PS_LOST(u16, a<0 || a> 65535, a > 65535, -1.0, 65536.0)
PS_LOST(i32, a<-2147483648LL || a> 2147483647, a > 2147483647, -2147483649.0, 2147483648.0)
PS_LOST(u32, a<0 || a> 4294967295LL, a > 4294967295ull, -1.0, 4294967296.0)
PS_LOST(i64, a != a, a > 9223372036854775807ull, -9223372036854777856.0, 9223372036854775808.0)
PS_LOST(u64, a < 0, a != a, -1.0, 18446744073709551616.0)
