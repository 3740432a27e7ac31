/** `view` and `final`: the result of an operation at one level. */
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

/**
 * `[id, 'view', level, seq, value, version?, meta?, token?]`, from the server; or the same with the kind `final`.
 *
 * `seq` numbers the views of one submission from 0, for `confirm`. A view at the strongest requested level or a
 * stronger one is the last row about the operation. So is a `final`, whatever its level: the operation has no stronger
 * one, and the level says what was reached. `token` says what the session has seen with this view.
 */
export type ViewRow = readonly [
  id: number,
  kind: 'view' | 'final',
  level: number,
  seq: number,
  value: unknown,
  version?: unknown,
  meta?: Readonly<Record<string, unknown>> | null | undefined,
  token?: string | undefined,
];

const FIELDS = ['id', 'kind', 'level', 'seq', 'value', 'version', 'meta', 'token'];

function kindOf(kind: 'view' | 'final'): MessageKind<ViewRow> {
  return {
    kind,
    fields: FIELDS,
    schema: z.tuple([
      operationNumber,
      z.literal(kind),
      levelIndex,
      count,
      z.unknown(),
      z.optional(z.unknown()),
      maybe(metaRecord),
      z.optional(sessionToken),
    ]),
  };
}

/** The kind `view`. */
export const view: MessageKind<ViewRow> = /* @__PURE__ */ kindOf('view');

/** The kind `final`. */
export const finalView: MessageKind<ViewRow> = /* @__PURE__ */ kindOf('final');
