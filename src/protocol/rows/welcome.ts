/** `welcome`: the server accepts the client; operations may follow. */
import * as z from 'zod/v4-mini';
import { connectionNumber, count, levelNames, shortText, type MessageKind } from './message-kind.ts';

/** The contract that the server has. */
export interface ServedContract {
  readonly name: string;
  readonly hash: string;
  /** The fingerprint of each operation, where the contract's differs from the client's. */
  readonly operations?: Readonly<Record<string, string>> | undefined;
}

/** What the server says about itself. */
export interface Welcome {
  readonly version: number;
  /** The levels of the hosted store, weakest first; rows name a level by its index in this tuple. */
  readonly levels: readonly string[];
  /** Name of the site, where the store has several. */
  readonly site?: string | undefined;
  /** How long the client's token lasts, if it ends at all: it should be renewed before. */
  readonly expiresInMs?: number | undefined;
  /** Names the client's principal without telling it: the same at all sites. Absent where nobody authenticates. */
  readonly principal?: string | undefined;
  /**
   * Names what the server remembers of this client's updates. An update that was sent under another name and is not
   * known under this one may have been executed all the same.
   */
  readonly memory: string;
  readonly contract?: ServedContract | undefined;
  readonly limits: {
    /** Largest frame that the server reads, in bytes. */
    readonly frameBytesMax: number;
    /** Most operations under way on one connection. */
    readonly inFlightMax: number;
  };
}

/** `[0, 'welcome', {…}]`, from the server. */
export type WelcomeRow = readonly [id: 0, kind: 'welcome', welcome: Welcome];

/** The kind `welcome`. */
export const welcome: MessageKind<WelcomeRow> = {
  kind: 'welcome',
  fields: ['id', 'kind', 'welcome'],
  schema: z.tuple([
    connectionNumber,
    z.literal('welcome'),
    z.strictObject({
      version: count,
      levels: levelNames,
      site: z.optional(shortText),
      expiresInMs: z.optional(count),
      principal: z.optional(shortText),
      memory: shortText,
      contract: z.optional(
        z.strictObject({
          name: shortText,
          hash: shortText,
          operations: z.optional(z.record(shortText, shortText)),
        }),
      ),
      limits: z.strictObject({ frameBytesMax: count, inFlightMax: count }),
    }),
  ]),
};
