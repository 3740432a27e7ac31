/**
 * Listing 1 (Correctables, OSDI 2016, §4): weak and strong reads without Correctables, after
 * Reddit's `user_messages`. The application looks after the cache itself, decides when to bypass
 * it, and has each read twice.
 */

interface User {
  readonly id: string;
}

const permacache = new Map<string, readonly string[]>();
const backend = new Map<string, readonly string[]>([['messages:ada', ['hello']]]);

const messagesKey = (userId: string): string => `messages:${userId}`;

async function userMessages(user: User, update = false): Promise<readonly string[]> {
  const key = messagesKey(user.id);
  let trees = permacache.get(key);
  if (trees === undefined || update) {
    trees = await userMessagesNoCache(user);
    permacache.set(key, trees); // cache coherence, by hand
  }
  return trees;
}

async function userMessagesNoCache(user: User): Promise<readonly string[]> {
  return backend.get(messagesKey(user.id)) ?? []; // just like userMessages, but avoiding the cache
}

const ada = { id: 'ada' };
console.log('first read:', await userMessages(ada));
backend.set(messagesKey('ada'), ['hello', 'again']);
console.log('cached:', await userMessages(ada));
console.log('bypassing the cache:', await userMessages(ada, true));
