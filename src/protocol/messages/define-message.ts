/**
 * One kind of message, from one list of its elements: the row's type, its
 * schema, names and positions.
 */
import * as z from 'zod/v4-mini';
import type { Codec, EncodedMessage } from '../codec/codec.ts';

/**
 * One kind of message. A row is `[id, kind, …]`; `fields` names its elements
 * for error messages and documents.
 */
export interface MessageKind<Row> {
  readonly kind: string;
  readonly fields: readonly string[];
  readonly schema: z.ZodMiniType<Row>;
}

/**
 * An element of a row: its name and its schema. One that is optional can be
 * left out at the end of the row.
 */
export type MessageElement = readonly [name: string, schema: z.ZodMiniType];

/** A kind of message as it is defined; `L` are all its elements. */
export interface MessageDefinition<
  L extends readonly MessageElement[],
> extends MessageKind<ElementValues<L>> {
  readonly fields: ElementNames<L>;
  /** Where the elements stand in the row, by name. */
  readonly at: ElementPositions<L>;
}

export type MessageOf<K> =
  K extends MessageDefinition<infer L> ? ElementValues<L> : never;

/**
 * The position of the number that begins every row: in most rows that of an
 * operation.
 */
export const NUMBER_AT = 0;

/** Where the kind stands in every row. */
export const KIND_AT = 1;

/**
 * Where what it says stands in a row that says one thing, as those about the
 * connection do.
 */
export const BODY_AT = 2;

/** The elements with the kind in its place, after the first. */
type ElementsWithKind<Kind extends string, L> = L extends readonly [
  infer First extends MessageElement,
  ...infer Rest extends readonly MessageElement[],
]
  ? readonly [First, readonly ['kind', z.ZodMiniType<Kind>], ...Rest]
  : never;

type ElementValues<L extends readonly MessageElement[]> = L extends readonly [
  infer First extends MessageElement,
  ...infer Rest extends readonly MessageElement[],
]
  ? First[1] extends z.ZodMiniOptional
    ? readonly [z.output<First[1]>?, ...ElementValues<Rest>]
    : readonly [z.output<First[1]>, ...ElementValues<Rest>]
  : readonly [];

type ElementNames<L extends readonly MessageElement[]> = {
  readonly [I in keyof L]: L[I][0];
};

type ElementPositions<L extends readonly MessageElement[]> = {
  readonly [
    I in keyof L & `${number}` as L[I][0]
  ]: I extends `${infer Index extends number}` ? Index : never;
};

/**
 * Defines a kind of message by the elements of its row, but for the kind, which
 * comes second.
 *
 * @example
 * export const goaway = defineMessage('goaway', [['id', connectionNumber], ['drainMs', count]]);
 * export type GoawayRow = MessageOf<typeof goaway>; // readonly [0, 'goaway', number]
 */
export function defineMessage<
  const Kind extends string,
  const L extends readonly [MessageElement, ...MessageElement[]],
>(
  kind: Kind,
  [first, ...rest]: L,
): MessageDefinition<ElementsWithKind<Kind, L>> {
  const elements: MessageElement[] = [
    first,
    ['kind', z.literal(kind)],
    ...rest,
  ];
  const fields = elements.map(([name]) => name);
  const schema = z.tuple(elements.map(([, item]) => item) as [z.ZodMiniType]);
  const at = Object.fromEntries(fields.map((name, place) => [name, place]));
  return { kind, fields, schema, at } as unknown as MessageDefinition<
    ElementsWithKind<Kind, L>
  >;
}

/**
 * Encodes a row of a kind. Throws `INVALID_VALUE`, naming the element, for what
 * is outside the domain.
 */
export function encodeMessageOf<Row extends readonly unknown[]>(
  { fields }: MessageKind<Row>,
  row: Row,
  codec: Codec,
): EncodedMessage {
  return codec.encodeMessage(row, fields);
}
