// SPDX-License-Identifier: Apache-2.0
#include "io/hdf5_element.h"

#include "base/log.h"
#include "io/decode.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define DEPTH_MAX 32 // of compounds in compounds

// ---- Complex numbers: compounds of two floats with names that say so ----

static int member_named(hid_t type, const char *const *names)
{
    for (int i = 0; i < 2; i++) {
        char *name = H5Tget_member_name(type, (unsigned)i);
        for (int n = 0; name != NULL && names[n] != NULL; n++) {
            if (strcasecmp(name, names[n]) != 0)
                continue;
            H5free_memory(name);
            return i;
        }
        H5free_memory(name);
    }
    return -1;
}

// The dtype of both parts; false: no complex number.
static bool complex_dtype(hid_t type, enum ps_dtype *dtype_out, int parts_out[2])
{
    static const char *const real[] = {"r", "re", "real", NULL};
    static const char *const imag[] = {"i", "im", "imag", "imaginary", NULL};
    enum ps_dtype dtypes[2];
    bool fine = H5Tget_class(type) == H5T_COMPOUND && H5Tget_nmembers(type) == 2;
    if (!fine)
        return false;
    parts_out[0] = member_named(type, real);
    parts_out[1] = member_named(type, imag);
    for (int i = 0; fine && i < 2; i++) {
        const char *what;
        hid_t memory = -1, member = H5Tget_member_type(type, (unsigned)i);
        fine = parts_out[i] >= 0 && member >= 0 && H5Tget_class(member) == H5T_FLOAT &&
               ps_hdf5_dtype(member, &dtypes[i], &memory, &what);
        if (memory >= 0)
            H5Tclose(memory);
        if (member >= 0)
            H5Tclose(member);
    }
    *dtype_out = dtypes[0];
    return fine && dtypes[0] == dtypes[1];
}

// Real part first, whatever the file's order is.
static hid_t complex_memory(hid_t type, enum ps_dtype dtype, const int parts[2])
{
    size_t bytes = ps_dtype_bytes(dtype);
    hid_t memory = H5Tcreate(H5T_COMPOUND, 2 * bytes), part = ps_hdf5_type(dtype);
    bool fine = memory >= 0 && part >= 0;
    for (int i = 0; fine && i < 2; i++) {
        char *name = H5Tget_member_name(type, (unsigned)parts[i]);
        fine = name != NULL && H5Tinsert(memory, name, (size_t)i * bytes, part) >= 0;
        H5free_memory(name);
    }
    if (part >= 0)
        H5Tclose(part);
    if (fine)
        return memory;
    if (memory >= 0)
        H5Tclose(memory);
    return -1;
}

// ---- Records ----

// The type that the numbers of `type` are read with, without gaps; -1: there are none in it.
static hid_t numbers_of(hid_t type, int depth);

static hid_t members_of(hid_t type, int depth)
{
    hid_t parts[1000];
    size_t bytes = 0, at = 0;
    int count = H5Tget_nmembers(type);
    if (count < 1 || count > 1000 || depth > DEPTH_MAX)
        return -1;
    for (int i = 0; i < count; i++) {
        hid_t member = H5Tget_member_type(type, (unsigned)i);
        parts[i] = member >= 0 ? numbers_of(member, depth + 1) : -1;
        bytes += parts[i] >= 0 ? H5Tget_size(parts[i]) : 0;
        if (member >= 0)
            H5Tclose(member);
    }
    hid_t memory = bytes > 0 ? H5Tcreate(H5T_COMPOUND, bytes) : -1;
    for (int i = 0; i < count; i++) {
        if (parts[i] < 0)
            continue;
        char *name = H5Tget_member_name(type, (unsigned)i);
        if (memory >= 0 && name != NULL)
            H5Tinsert(memory, name, at, parts[i]);
        H5free_memory(name);
        at += H5Tget_size(parts[i]);
        H5Tclose(parts[i]);
    }
    return memory;
}

static hid_t numbers_of(hid_t type, int depth)
{
    enum ps_dtype dtype;
    const char *what;
    hid_t memory = -1;
    if (H5Tget_class(type) == H5T_COMPOUND)
        return members_of(type, depth);
    if (H5Tget_class(type) != H5T_ARRAY)
        return ps_hdf5_dtype(type, &dtype, &memory, &what) ? memory : -1;
    hsize_t dims[H5S_MAX_RANK];
    hid_t base = H5Tget_super(type), inner = base >= 0 ? numbers_of(base, depth + 1) : -1;
    int rank = H5Tget_array_ndims(type);
    if (inner >= 0 && rank > 0 && H5Tget_array_dims2(type, dims) >= 0)
        memory = H5Tarray_create2(inner, (unsigned)rank, dims);
    if (inner >= 0)
        H5Tclose(inner);
    if (base >= 0)
        H5Tclose(base);
    return memory;
}

struct walk {
    struct ps_record *record;
    const char *label;
    struct ps_error *error;
};

// Adds the member `type` (of the file), which is read at `offset` as `memory`; memory -1: it cannot
// be read.
static bool add_members(struct walk *walk, const char *name, hid_t type, hid_t memory,
                        size_t offset, int depth);

static bool add_compound(struct walk *walk, const char *prefix, hid_t type, hid_t memory,
                         size_t offset, int depth)
{
    bool fine = true;
    for (int i = 0; fine && i < H5Tget_nmembers(type); i++) {
        char *name = H5Tget_member_name(type, (unsigned)i);
        hid_t member = H5Tget_member_type(type, (unsigned)i);
        int at = name != NULL && memory >= 0 ? H5Tget_member_index(memory, name) : -1;
        hid_t inner = at >= 0 ? H5Tget_member_type(memory, (unsigned)at) : -1;
        struct ps_text full = {0};
        ps_text_printf(&full, "%s%s%s", prefix, prefix[0] != '\0' ? "." : "", name ? name : "");
        fine = !full.failed && name != NULL && member >= 0 &&
               add_members(walk, full.data != NULL ? full.data : "", member, inner,
                           offset + (at >= 0 ? H5Tget_member_offset(memory, (unsigned)at) : 0),
                           depth + 1);
        ps_text_free(&full);
        H5Eclear2(H5E_DEFAULT); // of members that memory lacks
        if (inner >= 0)
            H5Tclose(inner);
        if (member >= 0)
            H5Tclose(member);
        H5free_memory(name);
    }
    return fine ||
           ps_fail(walk->error, PS_INPUT, "%s: its compound type cannot be read", walk->label);
}

// Each element of an array of compounds: "outer[2].inner".
static bool add_compounds(struct walk *walk, const char *name, hid_t type, hid_t memory,
                          size_t offset, int depth)
{
    hid_t base = H5Tget_super(type), inner = memory >= 0 ? H5Tget_super(memory) : -1;
    size_t size = inner >= 0 ? H5Tget_size(inner) : 0, base_bytes = H5Tget_size(base);
    size_t count = base_bytes > 0 ? H5Tget_size(type) / base_bytes : 0;
    bool fine = true;
    for (size_t i = 0; fine && i < count && inner >= 0; i++) {
        struct ps_text full = {0};
        ps_text_printf(&full, "%s[%zu]", name, i);
        fine = !full.failed && add_members(walk, full.data, base, inner, offset + i * size, depth);
        ps_text_free(&full);
    }
    if (inner >= 0)
        H5Tclose(inner);
    H5Tclose(base);
    return fine;
}

static bool add_number(struct walk *walk, const char *name, hid_t type, hid_t memory, size_t offset)
{
    struct ps_member *member = ps_record_add(walk->record, name, walk->label, walk->error);
    const char *what = "of no number";
    hid_t copy = -1, base = H5Tget_class(type) == H5T_ARRAY ? H5Tget_super(type) : H5Tcopy(type);
    hsize_t dims[H5S_MAX_RANK];
    if (member == NULL || base < 0)
        return false;
    member->offset = offset;
    member->count = 1;
    bool readable = ps_hdf5_dtype(base, &member->dtype, &copy, &what) && memory >= 0;
    if (copy >= 0)
        H5Tclose(copy);
    H5Tclose(base);
    int rank = H5Tget_class(type) == H5T_ARRAY ? H5Tget_array_ndims(type) : 0;
    if (!readable || rank > PS_RANK_MAX || (rank > 0 && H5Tget_array_dims2(type, dims) < 0)) {
        member->refused = what;
        return true;
    }
    member->rank = rank;
    for (int i = 0; i < rank; i++) {
        member->dims[i] = (int64_t)dims[i];
        member->count *= (int64_t)dims[i];
    }
    return true;
}

static bool add_members(struct walk *walk, const char *name, hid_t type, hid_t memory,
                        size_t offset, int depth)
{
    if (depth > DEPTH_MAX)
        return ps_fail(walk->error, PS_INPUT, "%s: compounds in compounds, more than %d deep",
                       walk->label, DEPTH_MAX);
    if (H5Tget_class(type) == H5T_COMPOUND)
        return add_compound(walk, name, type, memory, offset, depth);
    if (H5Tget_class(type) == H5T_ARRAY) {
        hid_t base = H5Tget_super(type);
        bool compounds = base >= 0 && H5Tget_class(base) == H5T_COMPOUND;
        if (base >= 0)
            H5Tclose(base);
        if (compounds)
            return add_compounds(walk, name, type, memory, offset, depth + 1);
    }
    return add_number(walk, name, type, memory, offset);
}

bool ps_hdf5_is_complex(hid_t type, enum ps_dtype *dtype_out)
{
    int parts[2];
    return complex_dtype(type, dtype_out, parts);
}

bool ps_hdf5_record(hid_t type, const char *label, struct ps_record *record, hid_t *memory_out,
                    struct ps_error *error)
{
    struct walk walk = {record, label, error};
    *memory_out = numbers_of(type, 0);
    if (*memory_out < 0)
        return ps_fail(error, PS_INPUT, "%s is compound, and none of its members are numbers",
                       label);
    record->bytes = H5Tget_size(*memory_out);
    return add_compound(&walk, "", type, *memory_out, 0, 0);
}

static bool find_record(struct ps_hdf5_element *element, hid_t type,
                        const struct ps_values *options, const char *label, struct ps_error *error)
{
    static const struct ps_value no_dtype = {.given = false};
    element->unit = PS_HDF5_RECORD;
    if (!ps_hdf5_record(type, label, &element->record, &element->memory, error) ||
        !ps_record_choose(&element->record, ps_values_get(options, "columns"), &no_dtype, label,
                          &element->choice, error))
        return false;
    element->dtype = element->choice.dtype;
    return true;
}

// ---- All elements ----

bool ps_hdf5_is_readable(hid_t type, const char **what_out)
{
    enum ps_dtype dtype;
    hid_t memory = -1;
    H5T_class_t class = H5Tget_class(type);
    bool nested = class == H5T_COMPOUND || class == H5T_ARRAY;
    bool number = ps_hdf5_dtype(type, &dtype, &memory, what_out);
    if (nested)
        memory = numbers_of(type, 0);
    bool fine = nested ? memory >= 0 : number;
    if (memory >= 0)
        H5Tclose(memory);
    H5Eclear2(H5E_DEFAULT);
    return fine;
}

static bool find_unit(struct ps_hdf5_element *element, hid_t set, hid_t type,
                      const struct ps_values *options, const char *label, struct ps_error *error)
{
    const struct ps_value *columns = ps_values_get(options, "columns");
    const char *what;
    int parts[2];
    if (H5Tget_class(type) == H5T_COMPOUND) {
        if (columns->given || !complex_dtype(type, &element->raw, parts))
            return find_record(element, type, options, label, error);
        element->unit = PS_HDF5_COMPLEX;
        element->dtype = element->raw;
        element->memory = complex_memory(type, element->raw, parts);
        return ps_complex_form(ps_values_get(options, "complex"), label, &element->form, error);
    }
    if (!ps_hdf5_dtype(type, &element->raw, &element->memory, &what))
        return ps_fail(error, PS_INPUT, "%s is %s, not numbers", label, what);
    if (columns->given)
        return ps_fail(
            error, PS_USAGE,
            "columns: %s holds plain numbers, no records with members to choose; `select` "
            "chooses of an axis",
            label);
    element->dtype = element->raw;
    element->is_wide = ps_hdf5_is_wide(type);
    if (!ps_values_get(options, "cf")->truth)
        return true;
    if (element->raw == PS_F16) { // its attributes are of wider types
        H5Tclose(element->memory);
        element->memory = H5Tcopy(H5T_NATIVE_FLOAT);
        element->raw = PS_F32;
    }
    if (element->raw == PS_BOOL)
        return true;
    return ps_hdf5_cf_read(set, element->raw, label, &element->cf, error);
}

// Takes the array types off: their axes come behind those of the dataset.
static bool find_array(struct ps_hdf5_element *element, hid_t set, hid_t type,
                       const struct ps_values *options, const char *label, struct ps_error *error)
{
    hsize_t dims[H5S_MAX_RANK];
    int rank = H5Tget_array_ndims(type);
    hid_t base = H5Tget_super(type);
    bool fine = base >= 0 && rank > 0 && H5Tget_array_dims2(type, dims) >= 0;
    if (!fine)
        ps_hdf5_fail(error, PS_INPUT, "%s: its array type cannot be read", label);
    if (fine && element->rank + rank > PS_RANK_MAX)
        fine = ps_fail(error, PS_INPUT, "%s: its elements are arrays of more than %d axes", label,
                       PS_RANK_MAX);
    for (int i = 0; fine && i < rank; i++) {
        element->dims[element->rank++] = (int64_t)dims[i];
        fine = !__builtin_mul_overflow(element->units, (int64_t)dims[i], &element->units);
    }
    if (fine)
        fine = H5Tget_class(base) == H5T_ARRAY
                   ? find_array(element, set, base, options, label, error)
                   : find_unit(element, set, base, options, label, error);
    if (base >= 0)
        H5Tclose(base);
    return fine;
}

// The type to read whole elements with: an array of units, as flat as memory is.
static bool make_memory(struct ps_hdf5_element *element, const char *label, struct ps_error *error)
{
    hsize_t dims[PS_RANK_MAX];
    hid_t unit = element->memory;
    for (int i = 0; i < element->rank; i++)
        dims[i] = (hsize_t)element->dims[i];
    if (unit >= 0 && element->rank > 0) {
        element->memory = H5Tarray_create2(unit, (unsigned)element->rank, dims);
        H5Tclose(unit);
    }
    if (element->memory < 0)
        return ps_hdf5_fail(error, PS_INPUT, "%s: its type cannot be read", label);
    element->bytes = H5Tget_size(element->memory);
    return true;
}

static void tell_what_is_lost(const struct ps_hdf5_element *element, hid_t set,
                              const struct ps_values *options, const char *label)
{
    struct ps_text names = {0};
    if (element->is_wide)
        ps_log(PS_LOG_WARNING,
               "%s holds floats wider than f64, as which they are read: digits are lost", label);
    if (element->unit == PS_HDF5_NUMBER && !ps_values_get(options, "cf")->given)
        ps_hdf5_cf_names(set, element->raw, &names);
    if (names.length > 0)
        ps_log(PS_LOG_WARNING,
               "%s is read as it is stored, but its attributes (%s) say what its numbers stand "
               "for: `cf: "
               "true` decodes them, `cf: false` keeps this quiet",
               label, names.data);
    ps_text_free(&names);
}

bool ps_hdf5_element_find(hid_t set, const struct ps_values *options, const char *label,
                          struct ps_hdf5_element *element, struct ps_error *error)
{
    *element = (struct ps_hdf5_element){.memory = -1, .units = 1};
    hid_t type = H5Dget_type(set);
    if (type < 0)
        return ps_hdf5_fail(error, PS_INPUT, "%s: its type cannot be read", label);
    bool fine =
        (H5Tget_class(type) == H5T_ARRAY ? find_array(element, set, type, options, label, error)
                                         : find_unit(element, set, type, options, label, error)) &&
        make_memory(element, label, error);
    H5Tclose(type);
    H5Eclear2(H5E_DEFAULT);
    if (fine)
        tell_what_is_lost(element, set, options, label);
    return fine;
}

void ps_hdf5_element_free(struct ps_hdf5_element *element)
{
    if (element->memory >= 0)
        H5Tclose(element->memory);
    element->memory = -1;
    ps_record_choice_free(&element->choice);
    ps_record_free(&element->record);
}

// ---- What it becomes ----

bool ps_hdf5_element_array(const struct ps_hdf5_element *element, const char *label,
                           struct ps_array *array, struct ps_error *error)
{
    if (array->rank + element->rank > PS_RANK_MAX)
        return ps_fail(error, PS_INPUT,
                       "%s: %d axes and %d more of its elements; at most %d can be read", label,
                       array->rank, element->rank, PS_RANK_MAX);
    for (int i = 0; i < element->rank; i++)
        array->dims[array->rank++] = element->dims[i];
    array->dtype = element->cf.on ? element->cf.to : element->dtype;
    if (element->unit == PS_HDF5_COMPLEX)
        return ps_complex_array(element->form, label, array, error);
    return element->unit != PS_HDF5_RECORD ||
           ps_record_array(&element->choice, label, array, error);
}

bool ps_hdf5_element_is_plain(const struct ps_hdf5_element *element)
{
    return element->unit == PS_HDF5_NUMBER && !element->cf.on;
}

static bool decode_cf(const struct ps_hdf5_element *element, const char *label, int64_t first_row,
                      int64_t row_units, const void *from, int64_t units, void *to,
                      struct ps_error *error)
{
    int64_t bad = 0;
    char value[PS_NUMBER_TEXT + 1];
    if (ps_hdf5_cf_decode(&element->cf, from, units, to, &bad))
        return true;
    size_t bytes = ps_dtype_bytes(element->cf.raw);
    value[ps_value_to_text(element->cf.raw, (const char *)from + (size_t)bad * bytes, value)] =
        '\0';
    return ps_fail(error, PS_INPUT,
                   "%s, row %lld: %s cannot be held exactly by f64, as which `cf: true` reads it",
                   label, (long long)(first_row + bad / row_units), value);
}

bool ps_hdf5_element_decode(const struct ps_hdf5_element *element, const char *label,
                            int64_t first_row, int64_t row_elements, void *from, int64_t count,
                            void *to, struct ps_error *error)
{
    int64_t units = count * element->units, row_units = row_elements * element->units;
    if (element->unit == PS_HDF5_RECORD) {
        struct ps_record_place place = {label, first_row * row_units, row_units};
        return ps_record_decode(&element->choice, place, from, units, to, error);
    }
    if (element->unit == PS_HDF5_COMPLEX) {
        ps_complex_convert(element->form, element->raw, from, units, to);
        return true;
    }
    if (element->cf.on)
        return decode_cf(element, label, first_row, row_units, from, units, to, error);
    memcpy(to, from, (size_t)units * ps_dtype_bytes(element->raw));
    return true;
}
