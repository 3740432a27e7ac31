/**
 * Listing 3 (Correctables, OSDI 2016, §4.2): generic speculation. The function runs on the
 * preliminary view while the store still works on the final one; where they differ it is undone and
 * runs again.
 */
import { createClient } from 'correctables';
import { memory, memoryStore } from 'correctables/bindings/memory';
import { get, put } from 'correctables/operations';

const shared = memoryStore();
const elsewhere = createClient(memory({ store: shared }));
await elsewhere.invoke(put('name', 'Alan'));
const store = createClient(memory({ store: shared, lagMs: 60_000 })); // from now on its backup is far behind
const deliver = (greeting: string): void => console.log('deliver:', greeting);

function speculationFunc(name: string | undefined): string {
  console.log('speculate on:', name);
  return `Hello, ${name ?? 'nobody'}!`;
}

function abortFunc(name: string | undefined): void {
  console.log('undo what was done for:', name);
}

// The common case: the preliminary view is right, and the result is there as soon as the final view
// confirms it.
await store
  .invoke(get<string>('name'))
  .speculate(speculationFunc, abortFunc)
  .setCallbacks({ onFinal: deliver });

// A write that the backup has not seen yet: the speculation was wrong.
await elsewhere.invoke(put('name', 'Ada'));
await store
  .invoke(get<string>('name'))
  .speculate(speculationFunc, abortFunc)
  .setCallbacks({ onFinal: deliver });

await Promise.all([store.close(), elsewhere.close()]);
