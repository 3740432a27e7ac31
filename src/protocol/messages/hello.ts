/**
 * `hello`: the client's first message. If it does not fit the server, the connection fails before
 * any operation.
 */
import * as z from 'zod/v4-mini';
import { defineMessage } from './define-message.ts';
import { connectionNumber, count, levelNames, shortText, authToken } from './field-schemas.ts';

export interface Hello {
  readonly version: number;
  /**
   * Random id of the client, the same for all its connections. Together with an operation's number
   * it names the operation.
   */
  readonly client: string;
  /** Counts the connections of this client. A server keeps only the newest. */
  readonly attempt: number;
  /** The levels that the client was written for, weakest first. */
  readonly levels: readonly string[];
  /**
   * The service contract that the client was written for. The operations that both ends share are
   * served.
   */
  readonly contract?: { readonly name: string; readonly hash: string } | undefined;
  /** Credentials. They are never part of the URL, which appears in logs. */
  readonly token?: string | undefined;
}

const helloBody: z.ZodMiniType<Hello> = z.strictObject({
  version: count,
  client: z.string().check(z.regex(/^[\w-]{16,64}$/)),
  attempt: count,
  levels: levelNames,
  contract: z.optional(z.strictObject({ name: shortText, hash: shortText })),
  token: z.optional(authToken),
});

export const hello = /* @__PURE__ */ defineMessage('hello', [
  ['id', connectionNumber],
  ['hello', helloBody],
]);
