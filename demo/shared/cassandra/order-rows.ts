/** Rows in the order that was asked for: a store gives them in its own. */

/** One of `found` for each of `ids`; null for one that is not there. */
export function inOrderOf<T extends { readonly id: string }>(
  ids: readonly string[],
  found: readonly T[],
): (T | null)[] {
  const byId = new Map(found.map((row) => [row.id, row]));
  return ids.map((id) => byId.get(id) ?? null);
}
