/**
 * `cancel`: the client wants no more views of an operation. An update that has begun runs to its end; `fail` with
 * `UNKNOWN` says so.
 */
import { defineRow } from './define-row.ts';
import { operationNumber } from './elements.ts';

/** The kind `cancel`, from the client. */
export const cancel = /* @__PURE__ */ defineRow('cancel', [['id', operationNumber]]);
