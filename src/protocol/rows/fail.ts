/** `fail`: an operation failed, as a whole or at one level; with id 0, the connection did. */
import * as z from 'zod/v4-mini';
import { count, levelIndex, maybe, shortText, type MessageKind } from './message-kind.ts';

/** What the error says beside its code and message. */
export interface FailDetails {
  readonly retryable?: boolean | undefined;
  readonly retryAfterMs?: number | undefined;
  /** Path of the field that is to blame. */
  readonly field?: string | undefined;
  /** With the code `DOMAIN`: what the service refused the operation with. */
  readonly domain?: { readonly name: string; readonly data?: unknown } | undefined;
}

/** `[id, 'fail', code, message, level?, details?]`, from the server. Without `level` it ends the operation. */
export type FailRow = readonly [
  id: number,
  kind: 'fail',
  code: string,
  message: string,
  level?: number | null | undefined,
  details?: FailDetails | null | undefined,
];

/** The kind `fail`. */
export const fail: MessageKind<FailRow> = {
  kind: 'fail',
  fields: ['id', 'kind', 'code', 'message', 'level', 'details'],
  schema: z.tuple([
    count,
    z.literal('fail'),
    shortText,
    z.string(),
    maybe(levelIndex),
    maybe(
      z.strictObject({
        retryable: z.optional(z.boolean()),
        retryAfterMs: z.optional(z.number().check(z.minimum(0))),
        field: z.optional(z.string()),
        domain: z.optional(z.strictObject({ name: shortText, data: z.optional(z.unknown()) })),
      }),
    ),
  ]),
};
