// SPDX-License-Identifier: Apache-2.0
#include "io/time_unit.h"

#include "io/format.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

const struct ps_time_unit *ps_time_unit_find(const char *name, size_t length)
{
    static const struct ps_time_unit units[] = {
        {"Y", 0, 0},   {"M", 0, 0},   {"W", 604800, 0}, {"D", 86400, 0}, {"h", 3600, 0},
        {"m", 60, 0},  {"s", 1, 0},   {"ms", 0, 3},     {"us", 0, 6},    {"ns", 0, 9},
        {"ps", 0, 12}, {"fs", 0, 15}, {"as", 0, 18},
    };
    for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
        if (strlen(units[i].name) == length && memcmp(units[i].name, name, length) == 0)
            return &units[i];
    return NULL;
}

static int64_t floor_divide(int64_t a, int64_t b)
{
    return a / b - (a % b < 0);
}

// Days from 1970-01-01 to the first of a month: years of 400 repeat, and begin with March so that
// the leap day comes last (Hinnant, "chrono-compatible low-level date algorithms").
static __int128 days_before_month(int64_t months)
{
    int64_t year = floor_divide(months, 12), month = months - 12 * year; // from 0, since 1970
    year += 1970 - (month < 2);
    int64_t era = floor_divide(year, 400), of_era = year - 400 * era;
    int64_t day = (153 * ((month + 10) % 12) + 2) / 5;
    day += of_era * 365 + of_era / 4 - of_era / 100;
    return (__int128)era * 146097 + day - 719468;
}

static __int128 whole_seconds(const struct ps_time_unit *unit, int64_t value)
{
    if (unit->seconds > 0)
        return (__int128)value * unit->seconds;
    if (unit->name[0] == 'M')
        return days_before_month(value) * 86400;
    // Years beyond these are beyond any number of seconds that matters; months would overflow.
    int64_t era = floor_divide(value, 400), of_era = value - 400 * era;
    return ((__int128)era * 146097 + days_before_month(12 * of_era)) * 86400;
}

static int64_t power_of_ten(int exponent)
{
    int64_t power = 1;
    while (exponent-- > 0)
        power *= 10;
    return power;
}

// More digits than f64 holds: only the text of the fraction is rounded once.
static double long_fraction(int64_t value, int decimals)
{
    char text[48];
    uint64_t size = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    uint64_t power = (uint64_t)power_of_ten(decimals);
    double seconds = 0;
    int length =
        snprintf(text, sizeof text, "%s%llu.%0*llu", value < 0 ? "-" : "",
                 (unsigned long long)(size / power), decimals, (unsigned long long)(size % power));
    ps_text_to_f64(text, (size_t)length, &seconds);
    return seconds;
}

double ps_time_to_seconds(const struct ps_time_unit *unit, int64_t value)
{
    if (value == PS_NOT_A_TIME)
        return NAN;
    if (unit->decimals == 0)
        return (double)whole_seconds(unit, value);
    if (value >= -(1ll << 53) && value <= 1ll << 53)
        return (double)value / (double)power_of_ten(unit->decimals); // both exact
    return long_fraction(value, unit->decimals);
}

bool ps_time_to_nanoseconds(const struct ps_time_unit *unit, int64_t value, int64_t *out)
{
    if (value == PS_NOT_A_TIME)
        return false;
    if (unit->decimals > 9) {
        int64_t power = power_of_ten(unit->decimals - 9);
        *out = value / power;
        return value % power == 0;
    }
    __int128 whole = unit->decimals == 0 ? whole_seconds(unit, value) : value;
    int64_t power = power_of_ten(9 - unit->decimals);
    return whole <= INT64_MAX && whole >= INT64_MIN &&
           !__builtin_mul_overflow((int64_t)whole, power, out);
}
