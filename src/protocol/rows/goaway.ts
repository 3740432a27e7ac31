/** `goaway`: the server will close this connection once the operations under way on it have ended. */
import { defineRow } from './define-row.ts';
import { connectionNumber, count } from './elements.ts';

/** The kind `goaway`, from the server: submit nothing more here; the connection closes within `drainMs`. */
export const goaway = /* @__PURE__ */ defineRow('goaway', [
  ['id', connectionNumber],
  ['drainMs', count],
]);
