#pragma once

#include <stddef.h>

/// A file of the page, as it is served.
struct parley_page_file {
    /// Where it is, from the root: `/app.js`.
    const char *path;
    /// What it is, as `Content-Type` says it.
    const char *type;
    const unsigned char *bytes;
    size_t count;
};

/// The files of the page, counted from 0; nothing behind the last one.
const struct parley_page_file *parley_page_file_at(size_t index);
