/**
 * Defines one kind of message by one list of its elements. The list gives the message's type, its
 * schema, and the names and positions of its elements.
 */
import * as z from 'zod/v4-mini';
import type { Codec, EncodedMessage } from '../codec/codec.ts';

/**
 * One kind of message. A message is `[id, kind, …]`. `fields` names its elements for errors and
 * documentation.
 */
export interface MessageKind<Message> {
  readonly kind: string;
  readonly fields: readonly string[];
  readonly schema: z.ZodMiniType<Message>;
}

/**
 * An element of a message: its name and its schema. An optional one can be left out at the end of
 * the message.
 */
export type MessageElement = readonly [name: string, schema: z.ZodMiniType];

/** The definition of a kind of message. `L` lists all its elements. */
export interface MessageDefinition<L extends readonly MessageElement[]> extends MessageKind<
  ElementValues<L>
> {
  readonly fields: ElementNames<L>;
  /** The position of each element in the message, by name. */
  readonly at: ElementPositions<L>;
}

export type MessageOf<K> = K extends MessageDefinition<infer L> ? ElementValues<L> : never;

/**
 * The position of the number that begins every message. In most messages it is the number of an
 * operation.
 */
export const NUMBER_AT = 0;

/** The position of the kind in every message. */
export const KIND_AT = 1;

/**
 * The position of the content in a message with one element of content, like those about the
 * connection.
 */
export const BODY_AT = 2;

/** The elements with the kind inserted after the first one. */
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
  readonly [I in keyof L & `${number}` as L[I][0]]: I extends `${infer Index extends number}`
    ? Index
    : never;
};

/**
 * Defines a kind of message by its elements. The kind itself, which comes second, is not listed.
 *
 * @example
 * export const goaway = defineMessage('goaway', [['id', connectionNumber], ['drainMs', count]]);
 * export type GoawayMessage = MessageOf<typeof goaway>; // readonly [0, 'goaway', number]
 */
export function defineMessage<
  const Kind extends string,
  const L extends readonly [MessageElement, ...MessageElement[]],
>(kind: Kind, [first, ...rest]: L): MessageDefinition<ElementsWithKind<Kind, L>> {
  const elements: MessageElement[] = [first, ['kind', z.literal(kind)], ...rest];
  const fields = elements.map(([name]) => name);
  const schema = z.tuple(elements.map(([, item]) => item) as [z.ZodMiniType]);
  const at = Object.fromEntries(fields.map((name, slot) => [name, slot]));
  return { kind, fields, schema, at } as unknown as MessageDefinition<ElementsWithKind<Kind, L>>;
}

/**
 * Encodes a message of a kind. Throws `INVALID_VALUE` with the name of an element that is outside
 * the domain.
 */
export function encodeMessageOf<Message extends readonly unknown[]>(
  { fields }: MessageKind<Message>,
  message: Message,
  codec: Codec,
): EncodedMessage {
  return codec.encodeMessage(message, fields);
}
