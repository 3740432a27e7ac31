/** `welcome`: the server accepts the client; operations may follow. */
import * as z from 'zod/mini';
import { connectionNumber, count, levelNames, shortText, type MessageKind } from './message-kind.ts';

/** What the server says about itself. */
export interface Welcome {
  readonly version: number;
  /** The levels of the hosted store, weakest first; rows name a level by its index in this tuple. */
  readonly levels: readonly string[];
  /** Name of the site, where the store has several. */
  readonly site?: string | undefined;
  /** How long the client's token lasts, if it ends at all: it should be renewed before. */
  readonly expiresInMs?: number | undefined;
  readonly contract?: { readonly name: string; readonly hash: string } | undefined;
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
      contract: z.optional(z.strictObject({ name: shortText, hash: shortText })),
      limits: z.strictObject({ frameBytesMax: count, inFlightMax: count }),
    }),
  ]),
};
