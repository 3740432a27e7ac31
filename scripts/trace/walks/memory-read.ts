import { memory } from '../../../src/bindings/memory/index.ts';
import { createClient } from '../../../src/index.ts';
import { get, put } from '../../../src/operations/index.ts';
import type { StartWalk } from './walk.ts';

/** A read with two views, without React. */
export const startWalk: StartWalk = async () => {
  const client = createClient(memory());
  await client.invoke(put('greeting', 'hello'));
  return {
    operation: 'get',
    run: async () => client.invoke(get('greeting')),
    close: () => client.close(),
  };
};
