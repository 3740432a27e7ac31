/** `submit`: one operation, which will be answered by a view at each requested level (Correctables, OSDI 2016, §5.1). */
import * as z from 'zod/v4-mini';
import { defineRow, type RowOf } from './define-row.ts';
import { count, maybe, operationNumber, sessionToken, shortText } from './elements.ts';
import { ALL_LEVELS } from './levels.ts';

/** The first site that an update was sent to, and how often the client has changed sites since. */
export type Move = readonly [home: string, hop: number];

/** Tokens in one submission at most: one a site. */
const TOKENS_MAX = 64;

const session: z.ZodMiniType<readonly string[]> = z.array(sessionToken).check(z.maxLength(TOKENS_MAX));
const move: z.ZodMiniType<Move> = z.tuple([shortText, z.int().check(z.minimum(1))]);

/**
 * The kind `submit`, from the client.
 *
 * `levels` is a set of bits: bit `i` requests the level with index `i`. A submission that is repeated after a reconnect
 * has the same `id`. `timeoutMs` is how long the client will still wait. `session` are the tokens that a session has, at
 * most one a site; empty when it is new. `move` says of an update that was sent to another site before: which was the
 * first, and how often the client has changed sites with it. `again` says of an update that it was sent before, to a
 * server that remembered other updates than this one does: unless the store itself executes a name once, it must not
 * be executed where it is not known. `idempotencyKey` names an update for all clients of the principal.
 */
export const submit = /* @__PURE__ */ defineRow('submit', [
  ['id', operationNumber],
  ['name', shortText],
  ['effect', z.enum(['read', 'update'])],
  ['levels', z.int().check(z.minimum(1), z.maximum(ALL_LEVELS))],
  ['args', z.unknown()],
  ['key', maybe(z.string())],
  ['timeoutMs', maybe(count)],
  ['trace', z.optional(z.unknown())],
  ['session', maybe(session)],
  ['move', maybe(move)],
  ['again', maybe(z.boolean())],
  ['idempotencyKey', maybe(shortText)],
]);
export type SubmitRow = RowOf<typeof submit>;
