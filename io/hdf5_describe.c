// SPDX-License-Identifier: Apache-2.0
#include "io/hdf5_describe.h"

#include "io/hdf5_element.h"
#include "io/inspect.h"

#include <stdlib.h>
#include <string.h>

#define MEMBERS_SHOWN 20
#define DEPTH_MAX 4
#define NUMBERS_SHOWN 4
#define TEXT_SHOWN 80

// ---- Types ----

static void describe(hid_t type, int depth, struct ps_text *out);

static void describe_compound(hid_t type, int depth, struct ps_text *out)
{
    char shown[80];
    int count = H5Tget_nmembers(type);
    ps_text_add(out, "{");
    for (int i = 0; i < count && i < MEMBERS_SHOWN && depth < DEPTH_MAX; i++) {
        char *name = H5Tget_member_name(type, (unsigned)i);
        hid_t member = H5Tget_member_type(type, (unsigned)i);
        ps_text_printf(out, "%s%s: ", i > 0 ? ", " : "",
                       name != NULL ? ps_escape(name, strlen(name), shown, sizeof shown) : "?");
        describe(member, depth + 1, out);
        if (member >= 0)
            H5Tclose(member);
        H5free_memory(name);
    }
    ps_text_add(out, count > MEMBERS_SHOWN || depth >= DEPTH_MAX ? ", ...}" : "}");
}

static void describe_array(hid_t type, int depth, struct ps_text *out)
{
    hsize_t dims[H5S_MAX_RANK];
    hid_t base = H5Tget_super(type);
    int rank = H5Tget_array_dims2(type, dims);
    describe(base, depth + 1, out);
    for (int i = 0; i < rank; i++)
        ps_text_printf(out, "%s%llu", i == 0 ? "[" : ", ", (unsigned long long)dims[i]);
    ps_text_add(out, rank > 0 ? "]" : "[?]");
    if (base >= 0)
        H5Tclose(base);
}

static void describe(hid_t type, int depth, struct ps_text *out)
{
    enum ps_dtype dtype;
    const char *what = "?";
    hid_t memory = -1;
    if (type >= 0 && ps_hdf5_is_complex(type, &dtype))
        ps_text_printf(out, "complex %s", ps_dtype_name(dtype));
    else if (type >= 0 && H5Tget_class(type) == H5T_COMPOUND)
        describe_compound(type, depth, out);
    else if (type >= 0 && H5Tget_class(type) == H5T_ARRAY && depth < DEPTH_MAX + 2)
        describe_array(type, depth, out);
    else
        ps_text_add(out, type >= 0 && ps_hdf5_dtype(type, &dtype, &memory, &what)
                             ? ps_dtype_name(dtype)
                             : what);
    if (memory >= 0)
        H5Tclose(memory);
}

void ps_hdf5_describe_type(hid_t type, struct ps_text *out)
{
    describe(type, 0, out);
    if (type >= 0 && H5Tget_class(type) == H5T_ARRAY)
        ps_text_add(out, " per element, ");
}

// ---- Attributes ----

static bool print_numbers(hid_t attribute, hid_t type, hssize_t count, struct ps_text *out)
{
    enum ps_dtype dtype;
    const char *what;
    char *values = NULL, text[PS_NUMBER_TEXT];
    hid_t memory = -1;
    bool fine =
        count > 0 && count <= NUMBERS_SHOWN && ps_hdf5_dtype(type, &dtype, &memory, &what) &&
        (values = calloc((size_t)count, 8)) != NULL && H5Aread(attribute, memory, values) >= 0;
    for (hssize_t i = 0; fine && i < count; i++) {
        size_t length = ps_value_to_text(dtype, values + (size_t)i * ps_dtype_bytes(dtype), text);
        ps_text_printf(out, "%s%.*s", i > 0 ? ", " : "", (int)length, text);
    }
    free(values);
    if (memory >= 0)
        H5Tclose(memory);
    return fine;
}

static void print_quoted(const char *text, size_t length, struct ps_text *out)
{
    char shown[TEXT_SHOWN];
    ps_text_printf(out, "'%s'", ps_escape(text, length, shown, sizeof shown));
}

static bool print_text(hid_t attribute, hid_t type, hid_t space, struct ps_text *out)
{
    char *text = NULL;
    if (H5Tget_class(type) != H5T_STRING || H5Sget_simple_extent_npoints(space) != 1)
        return false;
    if (H5Tis_variable_str(type) > 0) {
        if (H5Aread(attribute, type, &text) < 0)
            return false;
        print_quoted(text != NULL ? text : "", text != NULL ? strlen(text) : 0, out);
        H5Dvlen_reclaim(type, space, H5P_DEFAULT, &text);
        return true;
    }
    size_t size = H5Tget_size(type);
    text = size < 4096 ? calloc(size + 1, 1) : NULL;
    bool fine = text != NULL && H5Aread(attribute, type, text) >= 0;
    if (fine)
        print_quoted(text, strlen(text), out);
    free(text);
    return fine;
}

void ps_hdf5_describe_attribute(hid_t object, const char *name, struct ps_text *out)
{
    hsize_t dims[H5S_MAX_RANK];
    hid_t attribute = H5Aopen(object, name, H5P_DEFAULT);
    hid_t type = attribute >= 0 ? H5Aget_type(attribute) : -1;
    hid_t space = attribute >= 0 ? H5Aget_space(attribute) : -1;
    if (type < 0 || space < 0) {
        ps_text_add(out, "?");
    } else if (!print_text(attribute, type, space, out) &&
               !print_numbers(attribute, type, H5Sget_simple_extent_npoints(space), out)) {
        int rank = H5Sget_simple_extent_dims(space, dims, NULL);
        describe(type, 0, out);
        for (int i = 0; i < rank; i++)
            ps_text_printf(out, "%s%llu%s", i == 0 ? "[" : ", ", (unsigned long long)dims[i],
                           i == rank - 1 ? "]" : "");
    }
    if (space >= 0)
        H5Sclose(space);
    if (type >= 0)
        H5Tclose(type);
    if (attribute >= 0)
        H5Aclose(attribute);
    H5Eclear2(H5E_DEFAULT);
}

// ---- Entries ----

// The members that can be read, where not all can.
static void add_columns(hid_t type, struct ps_text *out)
{
    struct ps_record record = {0};
    struct ps_error error = {0};
    hid_t memory = -1;
    int refused = 0, listed = 0;
    bool fine = ps_hdf5_record(type, "", &record, &memory, &error);
    for (int i = 0; fine && i < record.member_count; i++)
        refused += record.members[i].refused != NULL;
    for (int i = 0; fine && refused > 0 && i < record.member_count; i++) {
        if (record.members[i].refused != NULL)
            continue;
        ps_text_add(out, listed++ == 0 ? ", columns: [" : ", ");
        ps_inspect_quoted(record.members[i].name, out);
    }
    ps_text_add(out, listed > 0 ? "]" : "");
    ps_record_free(&record);
    if (memory >= 0)
        H5Tclose(memory);
}

// The type below array types.
static hid_t unit_type(hid_t set)
{
    hid_t type = H5Dget_type(set);
    while (type >= 0 && H5Tget_class(type) == H5T_ARRAY) {
        hid_t base = H5Tget_super(type);
        H5Tclose(type);
        type = base;
    }
    return type;
}

void ps_hdf5_entry_keys(hid_t set, struct ps_text *out)
{
    enum ps_dtype dtype = PS_BOOL;
    const char *what;
    struct ps_text names = {0};
    hid_t memory = -1, type = unit_type(set), space = H5Dget_space(set);
    if (type >= 0 && ps_hdf5_is_complex(type, &dtype))
        ps_text_add(out, ", complex: parts");
    else if (type >= 0 && H5Tget_class(type) == H5T_COMPOUND)
        add_columns(type, out);
    else if (type >= 0 && ps_hdf5_dtype(type, &dtype, &memory, &what))
        ps_hdf5_cf_names(set, dtype, &names);
    if (names.length > 0)
        ps_text_add(out, ", cf: true");
    if (space >= 0 && H5Sget_simple_extent_ndims(space) == 0)
        ps_text_add(out, ", load: whole");
    ps_text_free(&names);
    if (memory >= 0)
        H5Tclose(memory);
    if (type >= 0)
        H5Tclose(type);
    if (space >= 0)
        H5Sclose(space);
    H5Eclear2(H5E_DEFAULT);
}
