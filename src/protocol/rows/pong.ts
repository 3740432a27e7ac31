/** `pong`: the answer to `ping`. */
import { defineRow } from './define-row.ts';
import { count } from './elements.ts';

/** The kind `pong`, from either end, with the number of the `ping`. */
export const pong = /* @__PURE__ */ defineRow('pong', [['n', count]]);
