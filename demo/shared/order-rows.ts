/** Sorts rows in the requested order, because a store returns them in its own order. */

/** Returns the row in `found` for each of `ids`, or null if it is missing. */
export function inOrderOf<T extends { readonly id: string }>(
  ids: readonly string[],
  found: readonly T[],
): (T | null)[] {
  const byId = new Map(found.map((row) => [row.id, row]));
  return ids.map((id) => byId.get(id) ?? null);
}
