/** `confirm`: the value of an earlier view holds at a stronger level: no payload (Correctables, OSDI 2016, §5.2). */
import * as z from 'zod/v4-mini';
import { defineRow, type RowOf } from './define-row.ts';
import { count, levelIndex, maybe, metaRecord, operationNumber, sessionToken } from './elements.ts';

/** The kind `confirm`, from the server; `seq` is that of a `view` of the same submission. */
export const confirm = /* @__PURE__ */ defineRow('confirm', [
  ['id', operationNumber],
  ['level', levelIndex],
  ['seq', count],
  ['version', z.optional(z.unknown())],
  ['meta', maybe(metaRecord)],
  ['token', z.optional(sessionToken)],
]);
export type ConfirmRow = RowOf<typeof confirm>;
