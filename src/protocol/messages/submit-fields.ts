/**
 * The names of a submission's elements. They are apart from the schema, so that pages need not load
 * it.
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
