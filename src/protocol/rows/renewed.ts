/** `renewed`: the server took the fresh token. */
import { defineRow } from './define-row.ts';
import { connectionNumber, count, maybe } from './elements.ts';

/** The kind `renewed`, from the server: how long the token lasts, if it ends at all. */
export const renewed = /* @__PURE__ */ defineRow('renewed', [
  ['id', connectionNumber],
  ['expiresInMs', maybe(count)],
]);
