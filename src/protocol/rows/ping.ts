/** `ping`: is anybody there? Answered by `pong` with the same number. A browser cannot send the websocket's own ping. */
import { defineRow } from './define-row.ts';
import { count } from './elements.ts';

/** The kind `ping`, from either end. */
export const ping = /* @__PURE__ */ defineRow('ping', [['n', count]]);
