// SPDX-License-Identifier: Apache-2.0
#include "io/time_text.h"

#include "base/text.h"

#include <stdio.h>
#include <string.h>

// Text that is being read; `left` bytes from `at` on.
struct cursor {
    const char *at;
    size_t left;
};

struct moment {
    int64_t seconds;      // since the epoch, rounded down
    const char *fraction; // digits behind the decimal mark, borrowed
    size_t digits;
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool take(struct cursor *text, char wanted)
{
    bool there = text->left > 0 && *text->at == wanted;
    text->at += there;
    text->left -= there;
    return there;
}

// Exactly `count` digits, as a number from least to most.
static bool take_number(struct cursor *text, size_t count, int least, int most, int *out)
{
    int value = 0;
    if (text->left < count)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (!is_digit(text->at[i]))
            return false;
        value = value * 10 + (text->at[i] - '0');
    }
    text->at += count;
    text->left -= count;
    *out = value;
    return value >= least && value <= most;
}

static bool is_leap(int year)
{
    return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

// Days from the epoch to a date. Years begin in March, so that a leap day ends one
// (H. Hinnant, "chrono-Compatible Low-Level Date Algorithms").
static int64_t days_to(int year, int month, int day)
{
    int64_t shifted = (int64_t)year - (month <= 2) + 400; // positive, so that division rounds down
    int64_t era = shifted / 400, year_of_era = shifted % 400;
    int64_t day_of_year = (153 * (month + (month > 2 ? -3 : 9)) + 2) / 5 + day - 1;
    int64_t day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
    return (era - 1) * 146097 + day_of_era - 719468;
}

static bool take_date(struct cursor *text, int64_t *days_out)
{
    static const int month_days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
    int year, month, day;
    if (!take_number(text, 4, 0, 9999, &year))
        return false;
    bool extended = take(text, '-');
    if (!take_number(text, 2, 1, 12, &month) || (extended && !take(text, '-')) ||
        !take_number(text, 2, 1, 31, &day))
        return false;
    *days_out = days_to(year, month, day);
    return day <= month_days[month - 1] + (month == 2 && is_leap(year));
}

static void take_fraction(struct cursor *text, struct moment *moment)
{
    moment->fraction = text->at;
    while (text->left > 0 && is_digit(*text->at)) {
        text->at++;
        text->left--;
        moment->digits++;
    }
}

static bool is_zero(const char *digits, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (digits[i] != '0')
            return false;
    return true;
}

static bool take_time(struct cursor *text, struct moment *moment)
{
    int hour, minute, second = 0;
    if (!take_number(text, 2, 0, 24, &hour))
        return false;
    bool extended = take(text, ':');
    if (!take_number(text, 2, 0, 59, &minute))
        return false;
    bool has_second = extended ? take(text, ':') : text->left > 0 && is_digit(*text->at);
    if (has_second && !take_number(text, 2, 0, 59, &second))
        return false;
    if (has_second && (take(text, '.') || take(text, ','))) {
        take_fraction(text, moment);
        if (moment->digits == 0)
            return false;
    }
    moment->seconds += hour * 3600 + minute * 60 + second;
    return hour < 24 || (minute == 0 && second == 0 && is_zero(moment->fraction, moment->digits));
}

static bool take_zone(struct cursor *text, int64_t *seconds_out)
{
    int hour, minute = 0;
    *seconds_out = 0;
    if (text->left == 0 || take(text, 'Z') || take(text, 'z'))
        return true;
    bool west = *text->at == '-';
    if (!take(text, '+') && !take(text, '-'))
        return false;
    if (!take_number(text, 2, 0, 23, &hour))
        return false;
    bool more = take(text, ':') || text->left > 0;
    if (more && !take_number(text, 2, 0, 59, &minute))
        return false;
    *seconds_out = (west ? -1 : 1) * (hour * 3600 + minute * 60);
    return true;
}

static bool read_moment(const char *text, size_t length, struct moment *moment)
{
    struct cursor cursor = {text, length};
    int64_t days, east = 0;
    *moment = (struct moment){.fraction = text};
    if (!take_date(&cursor, &days))
        return false;
    moment->seconds = days * 86400;
    bool fine = true;
    if (cursor.left > 0)
        fine = (take(&cursor, 'T') || take(&cursor, 't') || take(&cursor, ' ')) &&
               take_time(&cursor, moment) && take_zone(&cursor, &east);
    moment->seconds -= east;
    return fine && cursor.left == 0;
}

// The decimal text of a negative moment: -3 seconds and a fraction of 25 are -2.75.
static void add_complement(struct ps_text *text, const struct moment *moment, size_t digits)
{
    int carry = 1;
    ps_text_printf(text, "-%lld.", (long long)(-moment->seconds - 1));
    ps_text_append(text, moment->fraction, digits);
    for (size_t i = 0; !text->failed && i < digits; i++) {
        char *digit = &text->data[text->length - 1 - i];
        int value = 9 - (*digit - '0') + carry;
        carry = value == 10;
        *digit = (char)('0' + value % 10);
    }
}

bool ps_text_to_seconds(const char *text, size_t length, double *seconds_out)
{
    struct moment moment;
    if (!read_moment(text, length, &moment))
        return false;
    size_t digits = moment.digits;
    while (digits > 0 && moment.fraction[digits - 1] == '0')
        digits--;
    *seconds_out = (double)moment.seconds; // exact: less than 2^53
    if (digits == 0)
        return true;
    struct ps_text decimal = {0};
    if (moment.seconds < 0) {
        add_complement(&decimal, &moment, digits);
    } else {
        ps_text_printf(&decimal, "%lld.", (long long)moment.seconds);
        ps_text_append(&decimal, moment.fraction, digits);
    }
    bool fine = !decimal.failed && ps_text_to_f64(decimal.data, decimal.length, seconds_out);
    ps_text_free(&decimal);
    return fine;
}

enum ps_number_fit ps_text_to_nanoseconds(const char *text, size_t length, int64_t *nanoseconds_out)
{
    struct moment moment;
    int64_t fraction = 0, total;
    if (!read_moment(text, length, &moment))
        return PS_FIT_NOT_A_NUMBER;
    for (size_t i = 0; i < 9; i++)
        fraction = fraction * 10 + (i < moment.digits ? moment.fraction[i] - '0' : 0);
    if (moment.digits > 9 && !is_zero(moment.fraction + 9, moment.digits - 9))
        return PS_FIT_OUT_OF_RANGE;
    // The sum may fit where the product alone does not: just before the earliest moment.
    int64_t seconds = moment.seconds;
    if (seconds < 0 && fraction > 0) {
        seconds++;
        fraction -= 1000000000;
    }
    if (__builtin_mul_overflow(seconds, (int64_t)1000000000, &total) ||
        __builtin_add_overflow(total, fraction, &total))
        return PS_FIT_OUT_OF_RANGE;
    *nanoseconds_out = total;
    return PS_FIT_OK;
}
