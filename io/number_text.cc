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

bool is_hex_digit(char c)
{
    return (c >= '0' && c <= '9') || ((c | 32) >= 'a' && (c | 32) <= 'f');
}

// As overflows(), of hexadecimal digits behind "0x".
bool hex_overflows(const char *text, const char *end)
{
    long long point = 0, exponent = 0; // bits of the value before its binary point, about
    bool seen = false, after_point = false;
    for (; text != end && (*text | 32) != 'p'; ++text) {
        after_point = after_point || *text == '.';
        seen = seen || (*text != '0' && *text != '.');
        if (*text != '.' && seen != after_point)
            point += seen ? 4 : -4;
    }
    bool negative = text != end && text + 1 != end && text[1] == '-';
    for (; text != end; ++text)
        if (*text >= '0' && *text <= '9' && exponent < 1000000000000000LL)
            exponent = exponent * 10 + (*text - '0');
    return point + (negative ? -exponent : exponent) > 0;
}

// A hexadecimal number, text at its sign or digits: as C's %a writes it, the exponent may lack.
template <typename T> bool parse_hex(const char *text, const char *end, T *out)
{
    bool negative = *text == '-';
    text += negative + 2;
    if (text == end || !(is_hex_digit(*text) || *text == '.'))
        return false;
    auto [stop, code] = std::from_chars(text, end, *out, std::chars_format::hex);
    if (stop != end || code == std::errc::invalid_argument)
        return false;
    if (code == std::errc::result_out_of_range)
        *out = hex_overflows(text, end) ? std::numeric_limits<T>::infinity() : T(0);
    *out = negative ? -*out : *out;
    return true;
}

bool is_hex(const char *text, const char *end)
{
    text += *text == '-';
    return end - text > 2 && text[0] == '0' && (text[1] | 32) == 'x';
}

template <typename T> bool parse_float(const char *text, std::size_t length, T *out)
{
    const char *end = text + length;
    if (!starts_like_number(text, end))
        return false;
    if (is_hex(text, end))
        return parse_hex(text, end, out);
    auto [stop, code] = std::from_chars(text, end, *out, std::chars_format::general);
    if (stop != end || code == std::errc::invalid_argument)
        return false;
    if (code == std::errc::result_out_of_range) {
        T value = overflows(text, end) ? std::numeric_limits<T>::infinity() : T(0);
        *out = *text == '-' ? -value : value;
    }
    return true;
}

// ---- Halves ----

// The significant digits of decimal text and the power of ten of the first one: text is a number.
// Compared with those of `other`: below, equal or above 0, by magnitude.
int compare_magnitude(const char *text, const char *end, double other)
{
    char buffer[128];
    auto printed = std::to_chars(buffer, buffer + sizeof buffer, other, std::chars_format::scientific,
                                 60).ptr; // exact: no midpoint of halves has more digits
    const char *digits[] = {text, buffer}, *ends[] = {end, printed};
    long long exponents[2] = {0, 0};
    for (int i = 0; i < 2; ++i) {
        long long point = 0;
        bool seen = false, after_point = false;
        const char *p = digits[i];
        for (; p != ends[i] && (*p | 32) != 'e'; ++p) {
            after_point = after_point || *p == '.';
            if (*p < '0' || *p > '9')
                continue;
            if (!seen && *p != '0')
                digits[i] = p;
            seen = seen || *p != '0';
            point += !after_point && seen ? 1 : after_point && !seen ? -1 : 0;
        }
        const char *mantissa_end = p;
        if (p != ends[i]) {
            bool negative = p[1] == '-';
            for (++p; p != ends[i]; ++p)
                if (*p >= '0' && *p <= '9' && exponents[i] < 1000000000000000LL)
                    exponents[i] = exponents[i] * 10 + (*p - '0');
            exponents[i] = negative ? -exponents[i] : exponents[i];
        }
        exponents[i] += point;
        ends[i] = mantissa_end;
    }
    if (exponents[0] != exponents[1])
        return exponents[0] < exponents[1] ? -1 : 1;
    while (digits[0] != ends[0] || digits[1] != ends[1]) {
        char c[2];
        for (int i = 0; i < 2; ++i) {
            if (digits[i] != ends[i] && *digits[i] == '.')
                ++digits[i];
            c[i] = digits[i] != ends[i] ? *digits[i]++ : '0';
        }
        if (c[0] != c[1])
            return c[0] < c[1] ? -1 : 1;
    }
    return 0;
}

// A half straight from the text: where the double lies just between two halves, it may have been
// rounded to there, and the text decides.
bool parse_half(const char *text, std::size_t length, uint16_t *out)
{
    const char *end = text + length;
    double number;
    if (!parse_float(text, length, &number))
        return false;
    *out = ps_f64_to_f16(number);
    double size = number < 0 ? -number : number;
    uint16_t sign = *out & 0x8000u, near = *out & 0x7fffu;
    const double largest = 65504, above_largest = 65536;
    double value = near == 0x7c00 ? above_largest : ps_f16_to_f32(near);
    if (!(size < above_largest) || value == size || is_hex(text + (*text == '+'), end))
        return true;
    uint16_t lower = value > size ? uint16_t(near - 1) : near;
    double low = ps_f16_to_f32(lower), high = low == largest ? above_largest : ps_f16_to_f32(lower + 1);
    if ((low + high) / 2 != size)
        return true;
    int side = compare_magnitude(text, end, size);
    if (side != 0)
        *out = uint16_t(sign | (side > 0 ? lower + 1 : lower));
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

extern "C" bool ps_text_to_f16(const char *text, size_t length, uint16_t *value_out)
{
    return parse_half(text, length, value_out);
}

extern "C" enum ps_number_fit ps_text_to_i64(const char *text, size_t length, int64_t *value_out)
{
    return parse_integer(text, length, value_out);
}

extern "C" enum ps_number_fit ps_text_to_u64(const char *text, size_t length, uint64_t *value_out)
{
    return parse_integer(text, length, value_out);
}

extern "C" size_t ps_value_to_digits(enum ps_dtype dtype, const void *value, int digits, char *out)
{
    double number = 0;
    float single;
    uint16_t half;
    if (dtype == PS_F64) {
        std::memcpy(&number, value, sizeof number);
    } else if (dtype == PS_F32) {
        std::memcpy(&single, value, sizeof single);
        number = single;
    } else {
        std::memcpy(&half, value, sizeof half);
        number = ps_f16_to_f32(half);
    }
    if (number != number)
        return print_float(number, out);
    return std::size_t(std::to_chars(out, out + PS_NUMBER_TEXT, number, std::chars_format::general,
                                     digits)
                           .ptr -
                       out);
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
