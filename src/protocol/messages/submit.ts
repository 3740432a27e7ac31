/**
 * `submit`: one operation. The reply is a view at each requested level (Correctables, OSDI 2016,
 * §5.1).
 */
import * as z from 'zod/v4-mini';
import { defineMessage, type MessageOf } from './define-message.ts';
import { count, nullish, operationNumber, sessionToken, shortText } from './field-schemas.ts';
import { ALL_LEVELS } from './level-bits.ts';

/** The first site that received the update, and how often the client has changed sites since. */
export type SiteMove = readonly [home: string, hop: number];

/** Maximum number of tokens in one submission: one for each site. */
const MAX_SESSION_TOKENS = 64;

const sessionTokens: z.ZodMiniType<readonly string[]> = z
  .array(sessionToken)
  .check(z.maxLength(MAX_SESSION_TOKENS));
const siteMove: z.ZodMiniType<SiteMove> = z.tuple([shortText, z.int().check(z.minimum(1))]);

/**
 * The kind `submit`, from the client. `levels` is a set of bits: bit `i` requests the level with
 * index `i`. A submission that is repeated after a reconnect has the same `id`. `timeoutMs` is how
 * long the client will still wait. `session` has the tokens of a session, at most one for each
 * site; it is empty for a new session. `move` is present if an update was sent to another site
 * before. It has the first site and the number of moves since. `isResend` marks an update that was
 * sent before, to a server that remembered other updates than this one. Unless the store itself
 * executes an update once, this server must not execute the update if it does not know it.
 * `idempotencyKey` names an update for all clients of the principal.
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
