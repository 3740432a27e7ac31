/** `submit`: one operation, which will be answered by a view at each requested level (Correctables, OSDI 2016, §5.1). */
import * as z from 'zod/v4-mini';
import { count, maybe, operationNumber, sessionToken, shortText, type MessageKind } from './message-kind.ts';
import { submitFields } from './submit-fields.ts';

/**
 * `[id, 'submit', name, effect, levels, args, key?, timeoutMs?, trace?, session?, move?, again?]`, from the client.
 *
 * `levels` is a set of bits: bit `i` requests the level with index `i`. A submission that is repeated after a reconnect
 * has the same `id`. `timeoutMs` is how long the client will still wait. `session` are the tokens that a session has, at
 * most one a site; empty when it is new. `move` says of an update that was sent to another site before: which was the
 * first, and how often the client has changed sites with it. `again` says of an update that it was sent before, to a
 * server that remembered other updates than this one does: unless the store itself executes a name once, it must not
 * be executed where it is not known.
 */
export type SubmitRow = readonly [
  id: number,
  kind: 'submit',
  name: string,
  effect: 'read' | 'update',
  levels: number,
  args: unknown,
  key?: string | null | undefined,
  timeoutMs?: number | null | undefined,
  trace?: unknown,
  session?: readonly string[] | null | undefined,
  move?: Move | null | undefined,
  again?: boolean | null | undefined,
];

/** The first site that an update was sent to, and how often the client has changed sites since. */
export type Move = readonly [home: string, hop: number];

/** All levels that there can be, as bits. */
export const LEVELS_MAX = 0x7fff_ffff;
/** Tokens in one submission at most: one a site. */
const TOKENS_MAX = 64;

/** The kind `submit`. */
export const submit: MessageKind<SubmitRow> = {
  kind: 'submit',
  fields: submitFields,
  schema: z.tuple([
    operationNumber,
    z.literal('submit'),
    shortText,
    z.enum(['read', 'update']),
    z.int().check(z.minimum(1), z.maximum(LEVELS_MAX)),
    z.unknown(),
    maybe(z.string()),
    maybe(count),
    z.optional(z.unknown()),
    maybe(z.array(sessionToken).check(z.maxLength(TOKENS_MAX))),
    maybe(z.tuple([shortText, z.int().check(z.minimum(1))])),
    maybe(z.boolean()),
  ]),
};
