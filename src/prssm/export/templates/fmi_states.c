{{ function("Get" ~ state, "void *c, void **copy") }}
{
    return status_of(keep(c, copy));
}

{{ function("Set" ~ state, "void *c, void *copy") }}
{
    return status_of(take_back(c, copy));
}

{{ function("Free" ~ state, "void *c, void **copy") }}
{
    (void)c;
    if (copy != NULL) {
        free(*copy);
        *copy = NULL;
    }
    return 0;
}

{{ function("Serialized" ~ state ~ "Size", "void *c, void *copy, size_t *size") }}
{
    (void)c;
    (void)copy;
    *size = sizeof(snapshot);
    return 0;
}

{{ function("Serialize" ~ state, "void *c, void *copy, " ~ byte ~ " *bytes, size_t size") }}
{
    return status_of(to_bytes(c, copy, bytes, size));
}

{{ function(deserialize, "void *c, const " ~ byte ~ " *bytes, size_t size, void **copy") }}
{
    return status_of(from_bytes(c, bytes, size, copy));
}
