/**
 * The names of a submission's elements, apart from the schema, which pages need
 * not carry.
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
