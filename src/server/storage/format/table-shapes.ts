/** The tables of a service, as far as data depends on them. */

/** By name: whether rows can be removed, and the kind of each field by its name. */
export type TableShapes = Readonly<
  Record<string, { readonly removable: boolean; readonly fields: Readonly<Record<string, string>> }>
>;
