/** `view`: the result of an operation at one level. */
import * as z from 'zod/mini';
import {
  count,
  levelIndex,
  maybe,
  metaRecord,
  operationNumber,
  sessionToken,
  type MessageKind,
} from './message-kind.ts';

/**
 * `[id, 'view', level, seq, value, version?, meta?, token?]`, from the server.
 *
 * `seq` numbers the views of one submission from 0, for `confirm`. A view at the strongest requested level or a
 * stronger one is the last row about the operation. `token` says what the session has seen with this view.
 */
export type ViewRow = readonly [
  id: number,
  kind: 'view',
  level: number,
  seq: number,
  value: unknown,
  version?: unknown,
  meta?: Readonly<Record<string, unknown>> | null | undefined,
  token?: string | undefined,
];

/** The kind `view`. */
export const view: MessageKind<ViewRow> = {
  kind: 'view',
  fields: ['id', 'kind', 'level', 'seq', 'value', 'version', 'meta', 'token'],
  schema: z.tuple([
    operationNumber,
    z.literal('view'),
    levelIndex,
    count,
    z.unknown(),
    z.optional(z.unknown()),
    maybe(metaRecord),
    z.optional(sessionToken),
  ]),
};
