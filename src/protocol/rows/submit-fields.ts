/** The names of a submission's elements. Apart from its schema, which a page that only sends it need not carry. */
export const submitFields: readonly string[] = [
  'id',
  'kind',
  'name',
  'effect',
  'levels',
  'args',
  'key',
  'timeoutMs',
  'trace',
  'session',
  'move',
  'again',
];
