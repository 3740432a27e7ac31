/** Of the queues on ZooKeeper: each item at most once, none lost, and empty only when it was. */
import { unit } from './commands.mjs';

/**
 * @type {(at: string, test: string, [name, line, replacement]: readonly [string, string, string]) =>
 * import('./listed.mjs').Mutant}
 */
const of = (at, test, [name, line, replacement]) => ({
  name,
  rule: 'zookeeper',
  file: `src/bindings/zookeeper/${at}.ts`,
  line,
  replacement,
  command: unit(`bindings/zookeeper/queue/${test}.test.ts`),
});

/** @type {readonly import('./listed.mjs').Mutant[]} */
export const ZOOKEEPER_MUTANTS = [
  of('queue/claims', 'claims', [
    'claims of one binding have one prefix',
    'const prefix = `${this.#sessions.consumer}.${this.#sequence}-`;',
    'const prefix = `${this.#sessions.consumer}.`;',
  ]),
  of('queue/claims', 'claims', [
    'a claim whose answer was lost is made again',
    'if (mine !== undefined) return claimOf(mine);',
    '',
  ]),
  of('queue/claims', 'claims', [
    'claims are looked for in a list of before they were made',
    'this.#listing = undefined;\n      return',
    'return',
  ]),
  of('queue/claims', 'closing', [
    'a claim of which nobody knows is told as not made',
    '      throw failure;\n    }\n  }',
    '      return undefined;\n    }\n  }',
  ]),
  of('queue/janitor', 'janitor', [
    'claims of the living are recovered',
    "claims.filter((name) => !alive.has(name.slice(0, name.indexOf('.')))).map(claimOf)",
    'claims.map(claimOf)',
  ]),
  of('queue/dequeue', 'dequeue', [
    'empty without the count of a server that has caught up',
    'if (synced.tail - synced.head > 0) return false;',
    '',
  ]),
  of('queue/cleaner', 'cleaner', [
    'a batch of which one is gone is given up',
    'if (batch.length > 1) await Promise.all(batch.map((claim) => this.#remove([claim])));',
    'if (batch.length > 1) return;',
  ]),
  of('queue/cleaner', 'cleaner', [
    'a claim whose item is gone stays',
    'else if (error.part === ITEM_PART) await this.#removeClaims(batch);',
    '',
  ]),
  of('sessions', 'registration', [
    'a session that has expired leaves its registration standing',
    'this.#registered = undefined;\n      if (wasRegistered)',
    'if (wasRegistered)',
  ]),
  of('sessions', 'registration', [
    'a binding that nobody asks for anything is not registered again',
    'if (wasRegistered) void this.register().catch(this.#options.onBackgroundError);',
    '',
  ]),
  of('sessions', 'registration', [
    'the registration of an earlier session is taken for its own',
    'if (node?.ephemeralOwner === zk.sessionId) return true;',
    'if (node !== undefined) return true;',
  ]),
  of('sessions', 'registration', [
    'the registration of an earlier session is waited for, not replaced',
    "    await zk.delete(path).catch((error: unknown) => {\n      if (!isZooKeeperError(error, 'NO_NODE')) throw error;\n    });\n    return false;",
    '    return false;',
  ]),
  of('sessions', 'after-the-claim', [
    'a registration that failed counts',
    '      this.#registered = undefined;\n      throw error;',
    '      throw error;',
  ]),
  of('sessions', 'after-the-claim', [
    'what a busy server refuses is given up',
    'if (!isBusy(error) || attempt === ATTEMPTS_MAX || this.#isClosed) throw error;',
    'throw error;',
  ]),
  of('sessions', 'two-servers', [
    'a session may connect to a server that is behind what the other has seen',
    'zxidFloor: () => highest(other()?.lastZxid ?? 0n, this.#floor),',
    'zxidFloor: () => 0n,',
  ]),
];
