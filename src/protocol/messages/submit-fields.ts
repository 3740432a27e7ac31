/**
 * The names of a submission's elements, as `submit` has them; the compiler holds them to it. Apart, since a page that only
 * sends it need not carry its schema.
 */
import type { submit } from './submit.ts';

export const submitFields: (typeof submit)['fields'] = [
  'id',
  'kind',
  'name',
  'access',
  'levels',
  'args',
  'key',
  'timeoutMs',
  'trace',
  'session',
  'move',
  'isResend',
  'idempotencyKey',
];
