/** `view` and `final`: the result of an operation at one level. */
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

/**
 * Both are alike, from the server.
 *
 * `seq` numbers the views of one submission from 0, for `confirm`. A view at
 * the strongest requested level or a stronger one is the last row about the
 * operation. So is a `final`, whatever its level: the operation has no stronger
 * one, and the level says what was reached. `token` says what the session has
 * seen with this view.
 */
const defineViewMessage = (kind: 'view' | 'final') =>
  defineMessage(kind, [
    ['id', operationNumber],
    ['level', levelIndex],
    ['seq', count],
    ['value', z.unknown()],
    ['version', z.optional(z.unknown())],
    ['meta', nullish(metaRecord)],
    ['token', z.optional(sessionToken)],
  ]);

export const view = /* @__PURE__ */ defineViewMessage('view');

export const finalView: typeof view =
  /* @__PURE__ */ defineViewMessage('final');
export type ViewMessage = MessageOf<typeof view>;
