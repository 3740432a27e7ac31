/**
 * Listing 2 (Correctables, OSDI 2016, §4.1): the code of Listing 1 with Correctables. Coherence and
 * bypassing are the binding's business; the application says how consistent it wants its data.
 */
import { createClient, type Correctable } from 'correctables';
import { cached } from 'correctables/bindings/cache';
import { memory, memoryStore } from 'correctables/bindings/memory';
import { get, put } from 'correctables/operations';

interface User {
  readonly id: string;
}

const backend = memoryStore();
const reddit = createClient(
  cached(memory({ store: backend, levels: ['strong'] }), { onMiss: 'fetch' }),
);

const messagesKey = (userId: string): string => `messages:${userId}`;

function userMessages(user: User, strong = false): PromiseLike<readonly string[] | undefined> {
  const key = messagesKey(user.id);
  if (strong) return reddit.invokeStrong(get<readonly string[]>(key));
  return reddit.invokeWeak(get<readonly string[]>(key));
}

const ada = { id: 'ada' };
const elsewhere = createClient(memory({ store: backend })); // another application server
await elsewhere.invoke(put(messagesKey('ada'), ['hello']));
console.log('first read:', await userMessages(ada));
await elsewhere.invoke(put(messagesKey('ada'), ['hello', 'again']));
console.log('weak, from the cache:', await userMessages(ada));
console.log('strong, bypassing it:', await userMessages(ada, true));
console.log('weak, coherent again:', await userMessages(ada));

// The third way to ask, which Listing 1 could not offer: one call, both views.
const both: Correctable<readonly string[] | undefined> = reddit.invoke(
  get<readonly string[]>(messagesKey('ada')),
);
for await (const { level, value } of both) console.log(`${level}:`, value);

await Promise.all([reddit.close(), elsewhere.close()]);
