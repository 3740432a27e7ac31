/** `renew`: a fresh token for a connection that is open already. */
import { defineRow } from './define-row.ts';
import { connectionNumber, token } from './elements.ts';

/** The kind `renew`, from the client. The principal must stay the same. */
export const renew = /* @__PURE__ */ defineRow('renew', [
  ['id', connectionNumber],
  ['token', token],
]);
