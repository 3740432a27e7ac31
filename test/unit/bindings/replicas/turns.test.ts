/** Updates that wait for their turn. */
import { expect, test } from 'vitest';
import { replicas } from '../../../../src/bindings/replicas/index.ts';
import { createClient } from '../../../../src/correctable/client/client.ts';
import { CorrectableError } from '../../../../src/correctable/errors.ts';
import { put } from '../../../../src/operations/index.ts';
import { ReplicatedMemory } from '../../../support/replicated-memory.ts';

/** Admits updates when the test says so, and guesses that each has the value 1. */
class TurnStore extends ReplicatedMemory {
  readonly waiting: ((error?: CorrectableError) => void)[] = [];
  isOpen = false;
  leftCount = 0;

  enter(): Promise<() => void> | (() => void) {
    const leave = (): void => void (this.leftCount += 1);
    if (this.isOpen) return leave;
    return new Promise((resolve, reject) => {
      this.waiting.push((error) => (error === undefined ? resolve(leave) : reject(error)));
    });
  }

  async preview() {
    this.requests.push('near preview');
    return { value: 1, position: this.position };
  }
}

function open() {
  const store = new TurnStore();
  return { store, client: createClient(replicas(store)) };
}

// @rule REPL-13
test('an update that waits for its turn sends nothing, and reads its preliminary view after that', async () => {
  const { store, client } = open();
  const writing = client.invoke(put('k', 1));
  const levels: string[] = [];
  writing.onUpdate((_, { level }) => levels.push(level));
  await Promise.resolve();
  expect(store.requests).toEqual([]);
  store.waiting[0]!();
  await writing;
  expect(store.requests).toEqual(['near preview', 'primary put']);
  expect(levels).toEqual(['replica']);
  expect(store.leftCount).toBe(1);
});

// @rule REPL-13
test('an update whose caller leaves before its turn is not made, and gives its turn back', async () => {
  const { store, client } = open();
  const writing = client.invoke(put('k', 1));
  writing.cancel();
  await expect(writing).rejects.toMatchObject({ code: 'ABORTED' });
  store.waiting[0]!();
  await expect.poll(() => store.leftCount).toBe(1);
  expect(store.position.at).toBe(0);
});

test('an update that gets no turn fails with the reason', async () => {
  const { store, client } = open();
  const writing = client.invoke(put('k', 1));
  store.waiting[0]!(new CorrectableError('OVERLOADED', 'too many wait'));
  await expect(writing).rejects.toMatchObject({ code: 'OVERLOADED' });
  expect(store.position.at).toBe(0);
});

test('after a close, an update that waited is not made', async () => {
  const { store, client } = open();
  const writing = client.invoke(put('k', 1));
  await client.close();
  await expect(writing).rejects.toMatchObject({ code: 'UNAVAILABLE' });
  store.waiting[0]!();
  await expect.poll(() => store.leftCount).toBe(1);
  expect(store.position.at).toBe(0);
});

test('with a turn at once, the update is sent at once', async () => {
  const { store, client } = open();
  store.isOpen = true;
  const writing = client.invoke(put('k', 1));
  expect(store.requests).toEqual(['near preview', 'primary put']);
  await writing;
});
