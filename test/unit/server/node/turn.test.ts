/**
 * What comes in one turn of a site in memory is answered together: red and blue updates, and reads.
 */
import { expect, onTestFinished, test } from 'vitest';
import type { InvocationContext, Sink } from '../../../../src/correctable/binding.ts';
import type { Operation } from '../../../../src/correctable/operation.ts';
import { enqueue, get, put } from '../../../../src/operations/index.ts';
import type { RedBlueLevel } from '../../../../src/protocol/redblue-levels.ts';
import { createEmbedded } from '../../../../src/server/node/embedded/embedded.ts';
import { notesService } from './storage/notes-service.ts';

test('a read, a red and a blue write of one turn → all views before a tick that the first view has queued', async () => {
  const deployment = createEmbedded(notesService(), { sites: ['ireland'] });
  onTestFinished(() => deployment.close());
  const binding = deployment.site('ireland');
  const context = { signal: new AbortController().signal } as InvocationContext;
  const seen: string[] = [];
  const ticked = new Promise<void>((resolve) => {
    const submit = (operation: Operation, levels: readonly RedBlueLevel[]): void => {
      const sink: Sink<unknown, RedBlueLevel> = {
        view: (_value, level) => {
          if (seen.length === 0) {
            process.nextTick(() => {
              seen.push('tick');
              resolve();
            });
          }
          return seen.push(`${operation.name} ${level}`);
        },
        confirm: () => {},
        fail: (error) => void seen.push(String(error)),
      };
      void binding.submitOperation(operation, levels, sink, context);
    };
    submit(get('k'), ['causal']);
    submit(enqueue('q', 'a'), ['tentative', 'strong']);
    submit(put('k', 1), ['strong']);
  });
  await ticked;
  expect(seen.toSorted()).toEqual([
    'enqueue strong',
    'enqueue tentative',
    'get causal',
    'put causal',
    'tick',
  ]);
  expect(seen.at(-1)).toBe('tick');
});
