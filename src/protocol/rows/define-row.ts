/**
 * One kind of message, from one list: the elements of its row by name, in their order. From it come the type of the row,
 * its schema, the names of its elements, and where each of them stands.
 */
import * as z from 'zod/v4-mini';
import type { Codec, EncodedRow } from '../codec/codec.ts';

/** One kind of message. A row is `[id, kind, …]`; `fields` names its elements for error messages and documents. */
export interface MessageKind<Row> {
  readonly kind: string;
  readonly fields: readonly string[];
  readonly schema: z.ZodMiniType<Row>;
}

/** An element of a row: its name and its schema. One that is optional can be left out at the end of the row. */
export type RowElement = readonly [name: string, schema: z.ZodMiniType];

/** A kind of message as it is defined; `L` are all its elements. */
export interface RowKind<L extends readonly RowElement[]> extends MessageKind<Values<L>> {
  readonly fields: Names<L>;
  /** Where the elements stand in the row, by name. */
  readonly at: Places<L>;
}

/** The rows of a kind. */
export type RowOf<K> = K extends RowKind<infer L> ? Values<L> : never;

/** Where the number stands that begins every row: of an operation, in most of them. */
export const NUMBER = 0;

/** Where the kind stands in every row. */
export const KIND = 1;

/** Where what it says stands in a row that says one thing, as those about the connection do. */
export const BODY = 2;

/** The elements with the kind in its place, after the first. */
type WithKind<Kind extends string, L> = L extends readonly [
  infer First extends RowElement,
  ...infer Rest extends readonly RowElement[],
]
  ? readonly [First, readonly ['kind', z.ZodMiniType<Kind>], ...Rest]
  : never;

type Values<L extends readonly RowElement[]> = L extends readonly [
  infer First extends RowElement,
  ...infer Rest extends readonly RowElement[],
]
  ? First[1] extends z.ZodMiniOptional
    ? readonly [z.output<First[1]>?, ...Values<Rest>]
    : readonly [z.output<First[1]>, ...Values<Rest>]
  : readonly [];

type Names<L extends readonly RowElement[]> = { readonly [I in keyof L]: L[I][0] };

type Places<L extends readonly RowElement[]> = {
  readonly [I in keyof L & `${number}` as L[I][0]]: I extends `${infer Index extends number}` ? Index : never;
};

/**
 * Defines a kind of message by the elements of its row, but for the kind, which comes second.
 *
 * @example
 * export const goaway = defineRow('goaway', [['id', connectionNumber], ['drainMs', count]]);
 * export type GoawayRow = RowOf<typeof goaway>; // readonly [0, 'goaway', number]
 */
export function defineRow<const Kind extends string, const L extends readonly [RowElement, ...RowElement[]]>(
  kind: Kind,
  [first, ...rest]: L,
): RowKind<WithKind<Kind, L>> {
  const elements: RowElement[] = [first, ['kind', z.literal(kind)], ...rest];
  const fields = elements.map(([name]) => name);
  const schema = z.tuple(elements.map(([, each]) => each) as [z.ZodMiniType]);
  const at = Object.fromEntries(fields.map((name, place) => [name, place]));
  return { kind, fields, schema, at } as unknown as RowKind<WithKind<Kind, L>>;
}

/** Encodes a row of a kind. Throws `INVALID_VALUE`, naming the element, for what is outside the domain. */
export function encodeAs<Row extends readonly unknown[]>(
  { fields }: MessageKind<Row>,
  row: Row,
  codec: Codec,
): EncodedRow {
  return codec.encodeRow(row, fields);
}
