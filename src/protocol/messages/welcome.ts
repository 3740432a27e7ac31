/** `welcome`: the server accepts the client; operations may follow. */
import * as z from 'zod/v4-mini';
import { defineMessage } from './define-message.ts';
import { connectionNumber, count, levelNames, shortText } from './field-schemas.ts';

export interface ServedContract {
  readonly name: string;
  readonly hash: string;
  /** The fingerprint of each operation, if the server's contract differs from the client's. */
  readonly operations?: Readonly<Record<string, string>> | undefined;
}

export interface Welcome {
  readonly version: number;
  /**
   * The levels of the hosted store, weakest first. Messages name a level by its index in this
   * tuple.
   */
  readonly levels: readonly string[];
  /** Name of the site, if the store has several. */
  readonly site?: string | undefined;
  /** How long the client's token lasts, if it ends at all. The client should renew it before. */
  readonly expiresInMs?: number | undefined;
  /**
   * A tag of the client's principal that does not reveal it, the same at all sites. Absent without
   * authentication.
   */
  readonly principal?: string | undefined;
  /**
   * Names the server's memory of this client's updates. If an update was sent under another name
   * and is unknown under this one, it may have been executed all the same.
   */
  readonly memoryId: string;
  readonly contract?: ServedContract | undefined;
  readonly limits: {
    /** Largest frame that the server reads, in bytes. */
    readonly maxFrameBytes: number;
    /** Maximum number of operations in flight on one connection. */
    readonly maxInFlight: number;
  };
}

const welcomeBody: z.ZodMiniType<Welcome> = z.strictObject({
  version: count,
  levels: levelNames,
  site: z.optional(shortText),
  expiresInMs: z.optional(count),
  principal: z.optional(shortText),
  memoryId: shortText,
  contract: z.optional(
    z.strictObject({
      name: shortText,
      hash: shortText,
      operations: z.optional(z.record(shortText, shortText)),
    }),
  ),
  limits: z.strictObject({ maxFrameBytes: count, maxInFlight: count }),
});

export const welcome = /* @__PURE__ */ defineMessage('welcome', [
  ['id', connectionNumber],
  ['welcome', welcomeBody],
]);
