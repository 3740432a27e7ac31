/**
 * `submit`: one operation, which will be answered by a view at each requested
 * level (Correctables, OSDI 2016, §5.1).
 */
import * as z from 'zod/v4-mini';
import { defineMessage, type MessageOf } from './define-message.ts';
import {
  count,
  nullish,
  operationNumber,
  sessionToken,
  shortText,
} from './field-schemas.ts';
import { ALL_LEVELS } from './level-bits.ts';

/**
 * The first site that an update was sent to, and how often the client has
 * changed sites since.
 */
export type SiteMove = readonly [home: string, hop: number];

/** Tokens in one submission at most: one a site. */
const MAX_SESSION_TOKENS = 64;

const sessionTokens: z.ZodMiniType<readonly string[]> = z
  .array(sessionToken)
  .check(z.maxLength(MAX_SESSION_TOKENS));
const siteMove: z.ZodMiniType<SiteMove> = z.tuple([
  shortText,
  z.int().check(z.minimum(1)),
]);

/**
 * The kind `submit`, from the client.
 *
 * `levels` is a set of bits: bit `i` requests the level with index `i`. A
 * submission that is repeated after a reconnect has the same `id`. `timeoutMs`
 * is how long the client will still wait. `session` are the tokens that a
 * session has, at most one a site; empty when it is new. `move` says of an
 * update that was sent to another site before: which was the first, and how
 * often the client has changed sites with it. `isResend` says of an update that
 * it was sent before, to a server that remembered other updates than this one
 * does: unless the store itself executes a name once, it must not be executed
 * where it is not known. `idempotencyKey` names an update for all clients of
 * the principal.
 */
export const submit = /* @__PURE__ */ defineMessage('submit', [
  ['id', operationNumber],
  ['name', shortText],
  ['access', z.enum(['read', 'write'])],
  ['levels', z.int().check(z.minimum(1), z.maximum(ALL_LEVELS))],
  ['args', z.unknown()],
  ['key', nullish(z.string())],
  ['timeoutMs', nullish(count)],
  ['trace', z.optional(z.unknown())],
  ['session', nullish(sessionTokens)],
  ['move', nullish(siteMove)],
  ['isResend', nullish(z.boolean())],
  ['idempotencyKey', nullish(shortText)],
]);
export type SubmitMessage = MessageOf<typeof submit>;
