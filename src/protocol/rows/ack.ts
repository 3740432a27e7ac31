/** `ack`: the client is done with all operations up to a number, so the server may forget their replies. */
import { defineRow } from './define-row.ts';
import { count } from './elements.ts';

/** The kind `ack`, from the client. A later submission with a number of at most `upTo` fails with `EXPIRED_ID`. */
export const ack = /* @__PURE__ */ defineRow('ack', [['upTo', count]]);
