/** `fail`: an operation failed, as a whole or at one level. With id 0, the connection failed. */
import * as z from 'zod/v4-mini';
import { defineMessage, type MessageOf } from './define-message.ts';
import { count, levelIndex, nullish, shortText } from './field-schemas.ts';

/** The facts of an error beside its code and message. */
export interface FailDetails {
  readonly retryable?: boolean | undefined;
  readonly retryAfterMs?: number | undefined;
  /** Path of the invalid field. */
  readonly field?: string | undefined;
  /** With the code `DOMAIN`: the domain error with which the service refused the operation. */
  readonly domain?: { readonly name: string; readonly data?: unknown } | undefined;
}

const failDetails: z.ZodMiniType<FailDetails> = z.strictObject({
  retryable: z.optional(z.boolean()),
  retryAfterMs: z.optional(z.number().check(z.minimum(0))),
  field: z.optional(z.string()),
  domain: z.optional(z.strictObject({ name: shortText, data: z.optional(z.unknown()) })),
});

/** The kind `fail`, from the server. Without `level` it ends the operation. */
export const fail = /* @__PURE__ */ defineMessage('fail', [
  ['id', count],
  ['code', shortText],
  ['message', z.string()],
  ['level', nullish(levelIndex)],
  ['details', nullish(failDetails)],
]);
export type FailMessage = MessageOf<typeof fail>;
