/**
 * `confirm`: the value of an earlier view also holds at a stronger level, so no payload is sent
 * (Correctables, OSDI 2016, §5.2).
 */
import * as z from 'zod/v4-mini';
import { defineMessage, type MessageOf } from './define-message.ts';
import {
  count,
  levelIndex,
  nullish,
  metaRecord,
  operationNumber,
  sessionToken,
} from './field-schemas.ts';

/** The kind `confirm`, from the server; `seq` is that of a `view` of the same submission. */
export const confirm = /* @__PURE__ */ defineMessage('confirm', [
  ['id', operationNumber],
  ['level', levelIndex],
  ['seq', count],
  ['version', z.optional(z.unknown())],
  ['meta', nullish(metaRecord)],
  ['token', z.optional(sessionToken)],
]);
export type ConfirmMessage = MessageOf<typeof confirm>;
