// SPDX-License-Identifier: Apache-2.0
#include "io/hdf5_cf.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

// ---- Attributes ----

// The numbers of an attribute in its own dtype.
struct numbers {
    enum ps_dtype dtype;
    int count;
    unsigned char values[PS_HDF5_MISSING_MAX][8];
};

static bool read_values(hid_t attribute, hid_t memory, size_t bytes, int count,
                        struct numbers *numbers)
{
    char *buffer = calloc((size_t)count + 1, bytes);
    bool fine = buffer != NULL && H5Aread(attribute, memory, buffer) >= 0;
    for (int i = 0; fine && i < count; i++)
        memcpy(numbers->values[i], buffer + (size_t)i * bytes, bytes);
    free(buffer);
    numbers->count = fine ? count : 0;
    return fine;
}

// False: it is there, but holds no numbers or too many. count 0: it is not there.
static bool get_numbers(hid_t set, const char *name, struct numbers *numbers)
{
    *numbers = (struct numbers){0};
    if (H5Aexists(set, name) <= 0)
        return true;
    const char *what;
    hid_t attribute = H5Aopen(set, name, H5P_DEFAULT), memory = -1;
    hid_t type = attribute >= 0 ? H5Aget_type(attribute) : -1;
    hid_t space = attribute >= 0 ? H5Aget_space(attribute) : -1;
    hssize_t count = space >= 0 ? H5Sget_simple_extent_npoints(space) : -1;
    bool fine = type >= 0 && count >= 1 && count <= PS_HDF5_MISSING_MAX &&
                ps_hdf5_dtype(type, &numbers->dtype, &memory, &what) &&
                read_values(attribute, memory, ps_dtype_bytes(numbers->dtype), (int)count, numbers);
    if (memory >= 0)
        H5Tclose(memory);
    if (space >= 0)
        H5Sclose(space);
    if (type >= 0)
        H5Tclose(type);
    if (attribute >= 0)
        H5Aclose(attribute);
    return fine;
}

static bool convert(enum ps_dtype to, void *out, enum ps_dtype from, const void *value)
{
    size_t bad;
    uint64_t changed = 0;
    return ps_convert(to, out, from, value, 1, PS_CAST_ERROR, &bad, &changed);
}

static double as_double(const struct numbers *numbers, int i)
{
    size_t bad;
    uint64_t changed = 0;
    double value = NAN;
    ps_convert(PS_F64, &value, numbers->dtype, numbers->values[i], 1, PS_CAST_SATURATE, &bad,
               &changed);
    return value;
}

// Text of an attribute, cut to `size`; "" when it is not there or something else.
static void get_text(hid_t set, const char *name, char *out, size_t size)
{
    memset(out, 0, size);
    if (H5Aexists(set, name) <= 0)
        return;
    hid_t attribute = H5Aopen(set, name, H5P_DEFAULT);
    hid_t type = attribute >= 0 ? H5Aget_type(attribute) : -1;
    hid_t space = attribute >= 0 ? H5Aget_space(attribute) : -1;
    bool one = type >= 0 && space >= 0 && H5Tget_class(type) == H5T_STRING &&
               H5Sget_simple_extent_npoints(space) == 1;
    char *text = NULL;
    if (one && H5Tis_variable_str(type) > 0) {
        if (H5Aread(attribute, type, &text) >= 0 && text != NULL) {
            strncpy(out, text, size - 1);
            H5Dvlen_reclaim(type, space, H5P_DEFAULT, &text);
        }
    } else if (one && H5Tget_size(type) < 4096) {
        text = calloc(H5Tget_size(type) + 1, 1);
        if (text != NULL && H5Aread(attribute, type, text) >= 0)
            strncpy(out, text, size - 1);
        free(text);
    }
    if (space >= 0)
        H5Sclose(space);
    if (type >= 0)
        H5Tclose(type);
    if (attribute >= 0)
        H5Aclose(attribute);
}

static enum ps_dtype as_unsigned(enum ps_dtype dtype)
{
    return dtype == PS_I8    ? PS_U8
           : dtype == PS_I16 ? PS_U16
           : dtype == PS_I32 ? PS_U32
           : dtype == PS_I64 ? PS_U64
                             : dtype;
}

static bool is_unsigned(hid_t set)
{
    char text[8];
    get_text(set, "_Unsigned", text, sizeof text);
    return strcasecmp(text, "true") == 0;
}

// A value of an attribute as one of the data's type: the bits that a missing number has. Signed
// values stand for unsigned ones of the same bits. False: no number of the data is equal to it.
static bool to_raw(const struct ps_hdf5_cf *cf, enum ps_dtype stored, const struct numbers *numbers,
                   int i, void *out)
{
    return convert(cf->raw, out, numbers->dtype, numbers->values[i]) ||
           (stored != cf->raw && convert(stored, out, numbers->dtype, numbers->values[i]));
}

static bool wrong(const char *label, const char *name, struct ps_error *error)
{
    return ps_fail(
        error, PS_INPUT,
        "%s: attribute %s holds no number where `cf: true` needs one (or too many); read "
        "the dataset without `cf`",
        label, name);
}

static bool read_missing(hid_t set, enum ps_dtype stored, const char *label, struct ps_hdf5_cf *cf,
                         struct ps_error *error)
{
    static const char *const names[] = {"_FillValue", "missing_value"};
    for (int n = 0; n < 2; n++) {
        struct numbers numbers;
        if (!get_numbers(set, names[n], &numbers))
            return wrong(label, names[n], error);
        for (int i = 0; i < numbers.count && cf->missing_count < PS_HDF5_MISSING_MAX; i++)
            cf->missing_count += to_raw(cf, stored, &numbers, i, cf->missing[cf->missing_count]);
    }
    return true;
}

static bool read_scale(hid_t set, const char *label, struct ps_hdf5_cf *cf, struct ps_error *error)
{
    struct numbers scale, offset;
    if (!get_numbers(set, "scale_factor", &scale) || scale.count > 1)
        return wrong(label, "scale_factor", error);
    if (!get_numbers(set, "add_offset", &offset) || offset.count > 1)
        return wrong(label, "add_offset", error);
    cf->scaled = scale.count > 0 || offset.count > 0;
    cf->scale = scale.count > 0 ? as_double(&scale, 0) : 1;
    cf->offset = offset.count > 0 ? as_double(&offset, 0) : 0;
    return true;
}

// One limit; floats beside whole data are meant for what it stands for.
static void set_limit(struct ps_hdf5_cf *cf, enum ps_dtype stored, const struct numbers *numbers,
                      int i, bool high)
{
    uint64_t bits = 0;
    double value = as_double(numbers, i);
    if (ps_dtype_is_float(numbers->dtype) && !ps_dtype_is_float(cf->raw))
        cf->limits_unpacked = true;
    else if (stored != cf->raw && to_raw(cf, stored, numbers, i, &bits))
        convert(PS_F64, &value, cf->raw, &bits); // -1 stands for 255
    *(high ? &cf->high : &cf->low) = value;
    *(high ? &cf->has_high : &cf->has_low) = true;
}

static bool read_limits(hid_t set, enum ps_dtype stored, const char *label, struct ps_hdf5_cf *cf,
                        struct ps_error *error)
{
    struct numbers range, low, high;
    if (!get_numbers(set, "valid_range", &range) || (range.count != 0 && range.count != 2))
        return wrong(label, "valid_range", error);
    if (!get_numbers(set, "valid_min", &low) || low.count > 1)
        return wrong(label, "valid_min", error);
    if (!get_numbers(set, "valid_max", &high) || high.count > 1)
        return wrong(label, "valid_max", error);
    if (range.count == 2)
        set_limit(cf, stored, &range, 0, false);
    if (range.count == 2)
        set_limit(cf, stored, &range, 1, true);
    if (low.count == 1)
        set_limit(cf, stored, &low, 0, false);
    if (high.count == 1)
        set_limit(cf, stored, &high, 0, true);
    return true;
}

// NetCDF writes these where nothing was written, if the dataset names no other value (netcdf.h).
static void add_default_fill(hid_t set, struct ps_hdf5_cf *cf)
{
    static const struct {
        enum ps_dtype dtype;
        double value;
    } fills[] = {{PS_I16, -32767},
                 {PS_U16, 65535},
                 {PS_I32, -2147483647},
                 {PS_U32, 4294967295},
                 {PS_F32, 9.9692099683868690e+36f},
                 {PS_F64, 9.9692099683868690e+36}};
    hid_t properties = H5Dget_create_plist(set), type = H5Dget_type(set);
    H5D_fill_value_t defined = H5D_FILL_VALUE_UNDEFINED;
    double fill = 0;
    bool own = properties >= 0 && type >= 0 && H5Pfill_value_defined(properties, &defined) >= 0 &&
               defined == H5D_FILL_VALUE_USER_DEFINED &&
               H5Pget_fill_value(properties, H5T_NATIVE_DOUBLE, &fill) >= 0;
    for (size_t i = 0; own && i < sizeof fills / sizeof *fills; i++)
        if (fills[i].dtype == cf->raw && fills[i].value == fill)
            cf->missing_count += convert(cf->raw, cf->missing[cf->missing_count], PS_F64, &fill);
    H5Eclear2(H5E_DEFAULT);
    if (properties >= 0)
        H5Pclose(properties);
    if (type >= 0)
        H5Tclose(type);
}

bool ps_hdf5_cf_read(hid_t set, enum ps_dtype stored, const char *label, struct ps_hdf5_cf *cf,
                     struct ps_error *error)
{
    *cf = (struct ps_hdf5_cf){.on = true, .scale = 1};
    cf->raw = is_unsigned(set) ? as_unsigned(stored) : stored;
    if (!read_missing(set, stored, label, cf, error) || !read_scale(set, label, cf, error) ||
        !read_limits(set, stored, label, cf, error))
        return false;
    if (cf->missing_count == 0 && H5Aexists(set, "_FillValue") <= 0)
        add_default_fill(set, cf);
    cf->to = cf->raw == PS_F32 && !cf->scaled ? PS_F32 : PS_F64;
    return true;
}

// A fill value that is NaN already means what it says.
static bool is_nan_anyway(hid_t set, const char *name)
{
    struct numbers numbers;
    return get_numbers(set, name, &numbers) && numbers.count == 1 &&
           ps_dtype_is_float(numbers.dtype) && isnan(as_double(&numbers, 0));
}

void ps_hdf5_cf_names(hid_t set, enum ps_dtype raw, struct ps_text *out)
{
    static const char *const names[] = {"scale_factor", "add_offset", "_FillValue", "missing_value",
                                        "valid_range",  "valid_min",  "valid_max"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (H5Aexists(set, names[i]) > 0 && !is_nan_anyway(set, names[i]))
            ps_text_printf(out, "%s%s", out->length > 0 ? ", " : "", names[i]);
    if (as_unsigned(raw) != raw && is_unsigned(set))
        ps_text_printf(out, "%s_Unsigned", out->length > 0 ? ", " : "");
}

// ---- Decoding ----

// Bit by bit, but zeros of both signs are one. NaN needs no finding: it is missing anyway.
static bool is_missing(const struct ps_hdf5_cf *cf, const void *value, size_t bytes, double packed)
{
    for (int i = 0; i < cf->missing_count; i++) {
        if (memcmp(cf->missing[i], value, bytes) == 0)
            return true;
        double missing;
        if (packed == 0 && ps_dtype_is_float(cf->raw) &&
            convert(PS_F64, &missing, cf->raw, cf->missing[i]) && missing == 0)
            return true;
    }
    return false;
}

static bool is_outside(const struct ps_hdf5_cf *cf, double packed, double unpacked)
{
    double value = cf->limits_unpacked ? unpacked : packed;
    return (cf->has_low && value < cf->low) || (cf->has_high && value > cf->high);
}

#define CHUNK 512 // numbers that are converted together

// Each by itself, as some are whole numbers that f64 does not hold: only missing ones may be.
static bool to_doubles(const struct ps_hdf5_cf *cf, const char *values, int64_t count,
                       double *packed, int64_t *bad_out)
{
    size_t bytes = ps_dtype_bytes(cf->raw);
    for (int64_t i = 0; i < count; i++) {
        const char *value = values + (size_t)i * bytes;
        packed[i] = NAN;
        if (convert(PS_F64, &packed[i], cf->raw, value) || is_missing(cf, value, bytes, 1))
            continue;
        *bad_out = i;
        return false;
    }
    return true;
}

bool ps_hdf5_cf_decode(const struct ps_hdf5_cf *cf, const void *from, int64_t count, void *to,
                       int64_t *bad_out)
{
    size_t bytes = ps_dtype_bytes(cf->raw), bad = 0;
    double packed[CHUNK];
    for (int64_t done = 0; done < count; done += CHUNK) {
        int64_t part = count - done < CHUNK ? count - done : CHUNK;
        const char *values = (const char *)from + (size_t)done * bytes;
        uint64_t changed = 0;
        bool fine = ps_convert(PS_F64, packed, cf->raw, values, (size_t)part, PS_CAST_ERROR, &bad,
                               &changed) ||
                    to_doubles(cf, values, part, packed, bad_out);
        if (!fine) {
            *bad_out += done;
            return false;
        }
        for (int64_t i = 0; i < part; i++) {
            double value = cf->scaled ? packed[i] * cf->scale + cf->offset : packed[i];
            if (is_missing(cf, values + (size_t)i * bytes, bytes, packed[i]) ||
                is_outside(cf, packed[i], value))
                value = NAN;
            if (cf->to == PS_F32)
                ((float *)to)[done + i] = (float)value;
            else
                ((double *)to)[done + i] = value;
        }
    }
    return true;
}
