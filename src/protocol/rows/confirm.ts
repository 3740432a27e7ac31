/** `confirm`: the value of an earlier view holds at a stronger level: no payload (Correctables, OSDI 2016, §5.2). */
import * as z from 'zod/v4-mini';
import {
  count,
  levelIndex,
  maybe,
  metaRecord,
  operationNumber,
  sessionToken,
  type MessageKind,
} from './message-kind.ts';

/** `[id, 'confirm', level, seq, version?, meta?, token?]`, from the server; `seq` is that of a `view` of the same submission. */
export type ConfirmRow = readonly [
  id: number,
  kind: 'confirm',
  level: number,
  seq: number,
  version?: unknown,
  meta?: Readonly<Record<string, unknown>> | null | undefined,
  token?: string | undefined,
];

/** The kind `confirm`. */
export const confirm: MessageKind<ConfirmRow> = {
  kind: 'confirm',
  fields: ['id', 'kind', 'level', 'seq', 'version', 'meta', 'token'],
  schema: z.tuple([
    operationNumber,
    z.literal('confirm'),
    levelIndex,
    count,
    z.optional(z.unknown()),
    maybe(metaRecord),
    z.optional(sessionToken),
  ]),
};
