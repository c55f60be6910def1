// SPDX-License-Identifier: Apache-2.0
// Number text by the C++ standard library: std::from_chars and std::to_chars are correctly
// rounded, shortest, and know no locale. The one C++ file; nothing here throws or allocates.
#include <charconv>
#include <cstdint>
#include <cstring>
#include <limits>
#include <strings.h>
#include <system_error>

extern "C" {
#include "io/format.h"
}

namespace {

// What from_chars takes, plus a leading '+'. Its "nan(...)" form and bare signs are refused.
bool starts_like_number(const char *&text, const char *end)
{
    if (text == end)
        return false;
    if (*text == '+') {
        ++text;
        if (text == end || *text == '-')
            return false;
    }
    const char *last = end - 1;
    return *last != ')';
}

// Out of range is decided by the exponent's sign: from_chars leaves the value alone. A number
// whose decimal magnitude is at least 1 overflowed, else it underflowed.
bool overflows(const char *text, const char *end)
{
    long long point = 0, exponent = 0; // value = 0.d1d2... * 10^(point + exponent), d1 != 0
    bool seen = false, after_point = false;
    for (; text != end && *text != 'e' && *text != 'E'; ++text) {
        if (*text == '-' || *text == '+')
            continue;
        if (*text == '.') {
            after_point = true;
            continue;
        }
        seen = seen || *text != '0';
        if (seen && !after_point)
            ++point;
        if (!seen && after_point)
            --point;
    }
    if (text != end) {
        ++text;
        bool negative = text != end && *text == '-';
        if (text != end && (*text == '-' || *text == '+'))
            ++text;
        for (; text != end; ++text)
            if (exponent < 1000000000000000LL)
                exponent = exponent * 10 + (*text - '0');
        exponent = negative ? -exponent : exponent;
    }
    return point + exponent > 0;
}

template <typename T> bool parse_float(const char *text, std::size_t length, T *out)
{
    const char *end = text + length;
    if (!starts_like_number(text, end))
        return false;
    auto [stop, code] = std::from_chars(text, end, *out, std::chars_format::general);
    if (stop != end || code == std::errc::invalid_argument)
        return false;
    if (code == std::errc::result_out_of_range) {
        T value = overflows(text, end) ? std::numeric_limits<T>::infinity() : T(0);
        *out = *text == '-' ? -value : value;
    }
    return true;
}

template <typename T> ps_number_fit parse_integer(const char *text, std::size_t length, T *out)
{
    const char *end = text + length;
    if (!starts_like_number(text, end))
        return PS_FIT_NOT_A_NUMBER;
    bool negative = *text == '-';
    const char *digits = text + negative;
    if (digits == end)
        return PS_FIT_NOT_A_NUMBER;
    for (const char *p = digits; p != end; ++p)
        if (*p < '0' || *p > '9')
            return PS_FIT_NOT_A_NUMBER;
    if (negative && std::numeric_limits<T>::min() == 0) {
        while (digits != end && *digits == '0')
            ++digits;
        *out = 0;
        return digits == end ? PS_FIT_OK : PS_FIT_OUT_OF_RANGE;
    }
    auto [stop, code] = std::from_chars(text, end, *out);
    (void)stop;
    return code == std::errc() ? PS_FIT_OK : PS_FIT_OUT_OF_RANGE;
}

template <typename T> std::size_t print(const void *value, char *out)
{
    T number;
    std::memcpy(&number, value, sizeof number);
    return std::size_t(std::to_chars(out, out + PS_NUMBER_TEXT, number).ptr - out);
}

template <typename T> std::size_t print_float(T number, char *out)
{
    if (number != number) {
        std::memcpy(out, "nan", 3); // never "-nan": the sign of a NaN means nothing
        return 3;
    }
    return std::size_t(std::to_chars(out, out + PS_NUMBER_TEXT, number).ptr - out);
}

std::size_t print_word(const char *word, char *out)
{
    std::size_t n = std::strlen(word);
    std::memcpy(out, word, n);
    return n;
}

// The shortest decimal that names this half: digits are added until reading it back gives it.
std::size_t print_half(uint16_t bits, char *out)
{
    float value = ps_f16_to_f32(bits);
    if (value != value || value - value != 0 || value == float(int(value)))
        return print_float(value, out); // fewer digits of "65504" would be "6.55e+04"
    for (int digits = 1; digits <= 5; ++digits) {
        auto end = std::to_chars(out, out + PS_NUMBER_TEXT, value, std::chars_format::general,
                                 digits).ptr;
        double back = 0;
        std::from_chars(out, end, back);
        if (ps_f64_to_f16(back) == bits)
            return std::size_t(end - out);
    }
    return print_float(value, out);
}

} // namespace

extern "C" bool ps_text_to_f64(const char *text, size_t length, double *value_out)
{
    return parse_float(text, length, value_out);
}

extern "C" bool ps_text_to_f32(const char *text, size_t length, float *value_out)
{
    return parse_float(text, length, value_out);
}

extern "C" enum ps_number_fit ps_text_to_i64(const char *text, size_t length, int64_t *value_out)
{
    return parse_integer(text, length, value_out);
}

extern "C" enum ps_number_fit ps_text_to_u64(const char *text, size_t length, uint64_t *value_out)
{
    return parse_integer(text, length, value_out);
}

extern "C" size_t ps_value_to_text(enum ps_dtype dtype, const void *value, char *out)
{
    float single;
    double number;
    uint16_t half;
    switch (dtype) {
    case PS_BOOL:
        return print_word(*static_cast<const unsigned char *>(value) ? "true" : "false", out);
    case PS_I8:
        return print<int8_t>(value, out);
    case PS_I16:
        return print<int16_t>(value, out);
    case PS_I32:
        return print<int32_t>(value, out);
    case PS_I64:
        return print<int64_t>(value, out);
    case PS_U8:
        return print<uint8_t>(value, out);
    case PS_U16:
        return print<uint16_t>(value, out);
    case PS_U32:
        return print<uint32_t>(value, out);
    case PS_U64:
        return print<uint64_t>(value, out);
    case PS_F16:
        std::memcpy(&half, value, sizeof half);
        return print_half(half, out);
    case PS_F32:
        std::memcpy(&single, value, sizeof single);
        return print_float(single, out);
    default:
        std::memcpy(&number, value, sizeof number);
        return print_float(number, out);
    }
}
