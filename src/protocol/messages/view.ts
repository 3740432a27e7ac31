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
 * Both kinds have the same elements and come from the server. `seq` numbers the views of one
 * submission from 0, for `confirm`. A view at the strongest requested level or a stronger one is
 * the last message of the operation. So is a `final` at any level: the operation has no stronger
 * level, and the view has the level that it reached. `token` is the state of the session after this
 * view.
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

export const finalView: typeof view = /* @__PURE__ */ defineViewMessage('final');
export type ViewMessage = MessageOf<typeof view>;
