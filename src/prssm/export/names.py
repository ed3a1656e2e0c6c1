"""Names of columns as identifiers that C, XML and Python all take.

`identifiers` gives one for each name; the names themselves stay in descriptions, escaped by
whoever writes them.
"""

import keyword
import re
from collections.abc import Sequence

# Of C99 to C23 and C++, which may include the header.
_C_WORDS = """
alignas alignof and and_eq asm auto bitand bitor bool break case catch char class compl const
constexpr const_cast continue decltype default delete do double dynamic_cast else enum explicit
export extern false float for friend goto if inline int long mutable namespace new noexcept not
not_eq nullptr operator or or_eq private protected public register reinterpret_cast restrict return
short signed sizeof static static_assert static_cast struct switch template this thread_local throw
true try typedef typeid typename typeof typeof_unqual union unsigned using virtual void volatile
wchar_t while xor xor_eq errno main complex imaginary noreturn I
"""
RESERVED = frozenset({*_C_WORDS.split(), *keyword.kwlist, *keyword.softkwlist})
_LONGEST = 40  # C99 tells 63 first characters apart, and suffixes are added


def identifiers(
    names: Sequence[str], *, taken: Sequence[str] = (), suffixes: Sequence[str] = ("",)
) -> tuple[str, ...]:
    """A different identifier for each name, as near to it as can be, none of them in `taken`.

    No identifier with one of the `suffixes` behind it is that of another name.
    """
    used = set(taken)
    found = []
    for name in names:
        plain = identifier(name)
        number = 1
        chosen = plain
        while any(chosen + suffix in used for suffix in suffixes) or chosen in RESERVED:
            number += 1
            chosen = f"{plain}_{number}"
        used.update(chosen + suffix for suffix in suffixes)
        found.append(chosen)
    return tuple(found)


def identifier(name: str) -> str:
    """Letters, digits and single underscores, led by a letter; `x` where nothing is left."""
    plain = re.sub(r"[^A-Za-z0-9]+", "_", name).strip("_")[:_LONGEST].strip("_")
    if not plain:
        return "x"
    return plain if plain[0].isalpha() else f"x_{plain}"
